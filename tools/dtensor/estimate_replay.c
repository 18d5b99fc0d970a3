/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays the meetings of ranks: see estimate_replay.h. A rank stands for its class. The members of a group become the
 * set of their classes, so that the groups of different ranks of a class, such as columns of a mesh, are one, and their
 * meetings are matched in order.
 */
#include "estimate_replay.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum meeting_kind { MEET, SEND, RECEIVE } meeting_kind;

typedef struct meeting {
    meeting_kind kind;
    double us; /* on the rank's own clock */
    int group;
    int64_t peer;
} meeting;

typedef struct member_group {
    uint64_t direction;
    int64_t n, *members;
    int n_classes, *classes; /* ascending */
    uint64_t key;            /* of classes and direction */
} member_group;

typedef struct replay_rank {
    int64_t rank;
    int n_meetings, meetings_capacity, n_groups, groups_capacity;
    meeting *meetings;
    member_group *groups;
    int next;      /* the meeting that it has come to */
    double waited; /* so far */
} replay_rank;

/* When messages were sent, by the classes and the direction of their link. */
typedef struct link_queue {
    struct link_queue *following;
    uint64_t direction;
    int from, to, n, capacity, n_received;
    double *sent;
} link_queue;

replay replay_new(dt__arena *arena, int capacity) {
    return (replay){.arena = arena, .capacity = capacity, .ranks = DT__NEW_ARRAY(arena, replay_rank, capacity)};
}

/* Doubles an array that is full. */
static void *grown(dt__arena *arena, void *list, int n, int *capacity, size_t item_bytes) {
    if (n < *capacity)
        return list;
    int wanted = *capacity ? 2 * *capacity : 64;
    char *larger = DT__NEW_ARRAY(arena, char, (int64_t)wanted *(int64_t)item_bytes);
    if (larger && n)
        memcpy(larger, list, (size_t)n * item_bytes);
    *capacity = larger ? wanted : *capacity;
    return larger;
}

/* "4 0 2", or "3 list 0 1 5". */
static bool read_members(dt__arena *arena, char *text, member_group *out) {
    char *rest = NULL, *word = strtok_r(text, " \n", &rest), *first = strtok_r(NULL, " \n", &rest);
    out->n = word ? strtoll(word, NULL, 10) : 0;
    out->members = out->n > 0 && out->n <= 1 << 24 ? DT__NEW_ARRAY(arena, int64_t, out->n) : NULL;
    if (!out->members || !first)
        return false;
    bool is_list = !strcmp(first, "list");
    word = strtok_r(NULL, " \n", &rest);
    for (int64_t i = 0; i < out->n; i++) {
        if (!word)
            return false;
        out->members[i] = is_list ? strtoll(word, NULL, 10) : strtoll(first, NULL, 10) + i * strtoll(word, NULL, 10);
        word = is_list ? strtok_r(NULL, " \n", &rest) : word;
    }
    return true;
}

static bool read_group(dt__arena *arena, replay_rank *self, char *line) {
    int number, at = 0;
    member_group group = {0};
    if (sscanf(line, "group %d %" SCNx64 " %n", &number, &group.direction, &at) != 2 || number != self->n_groups ||
        !read_members(arena, line + at, &group))
        return false;
    self->groups = grown(arena, self->groups, self->n_groups, &self->groups_capacity, sizeof group);
    if (self->groups)
        self->groups[self->n_groups++] = group;
    return self->groups != NULL;
}

static bool read_meeting(dt__arena *arena, replay_rank *self, const char *line) {
    char word[8];
    meeting one = {.peer = -1};
    int n = sscanf(line, "%7s %lf %d %" SCNd64, word, &one.us, &one.group, &one.peer);
    one.kind = !strcmp(word, "send") ? SEND : !strcmp(word, "recv") ? RECEIVE : MEET;
    if (n < 3 || one.group < 0 || one.group >= self->n_groups || (one.kind == MEET) != (n == 3))
        return false;
    self->meetings = grown(arena, self->meetings, self->n_meetings, &self->meetings_capacity, sizeof one);
    if (self->meetings)
        self->meetings[self->n_meetings++] = one;
    return self->meetings != NULL;
}

/* The last line is "end"; without it, the file is not whole. */
static bool read_lines(dt__arena *arena, replay_rank *self, FILE *file) {
    char *line = NULL;
    size_t bytes = 0;
    bool ok = true, ended = false;
    while (ok && !ended && getline(&line, &bytes, file) > 0) {
        ended = !strncmp(line, "end ", 4);
        if (!ended)
            ok = strncmp(line, "group ", 6) ? read_meeting(arena, self, line) : read_group(arena, self, line);
    }
    free(line);
    return ok && ended;
}

dt_status replay_add(replay *self, int64_t rank, const char *path) {
    FILE *file = fopen(path, "re");
    replay_rank *added = self->ranks && self->n < self->capacity ? &self->ranks[self->n++] : NULL;
    if (added) {
        *added = (replay_rank){.rank = rank};
        self->is_broken = self->is_broken || !file || !read_lines(self->arena, added, file);
    } else
        self->is_broken = true;
    if (file)
        (void)fclose(file);
    return self->arena->ctx && dt_error_status(self->arena->ctx) == DT_ERR_MEMORY ? DT_ERR_MEMORY : DT_OK;
}

int64_t replay_rank_at(const replay *self, int i) { return self->ranks[i].rank; }

/* The classes of a group's members. */
static bool find_classes(const replay *self, member_group *group, replay_class_of *class_of, const void *user) {
    bool *seen = DT__NEW_ARRAY(self->arena, bool, self->n);
    group->classes = DT__NEW_ARRAY(self->arena, int, self->n);
    if (!seen || !group->classes)
        return false;
    for (int64_t i = 0; i < group->n; i++) {
        int found = class_of(user, group->members[i]);
        if (found < 0 || found >= self->n)
            return false;
        seen[found] = true;
    }
    group->key = dt__hash_u64(group->direction, 1);
    for (int c = 0; c < self->n; c++)
        if (seen[c]) {
            group->classes[group->n_classes++] = c;
            group->key = dt__hash_u64((uint64_t)c, group->key);
        }
    return true;
}

static link_queue *link_between(const replay *self, link_queue **all, uint64_t direction, int from, int to) {
    for (link_queue *link = *all; link; link = link->following)
        if (link->direction == direction && link->from == from && link->to == to)
            return link;
    link_queue *link = DT__NEW(self->arena, link_queue);
    if (link) {
        *link = (link_queue){.following = *all, .direction = direction, .from = from, .to = to};
        *all = link;
    }
    return link;
}

/* Whether a rank could go on from a message; those within a class are taken to be in time. */
static bool pass_message(const replay *self, int c, int peer, const meeting *one, link_queue **links) {
    replay_rank *rank = &self->ranks[c];
    bool sends = one->kind == SEND;
    link_queue *link =
        link_between(self, links, rank->groups[one->group].direction, sends ? c : peer, sends ? peer : c);
    if (!link || peer == c)
        return link != NULL;
    if (!sends && link->n_received == link->n)
        return false;
    if (sends) {
        link->sent = grown(self->arena, link->sent, link->n, &link->capacity, sizeof *link->sent);
        if (!link->sent)
            return false;
        link->sent[link->n++] = one->us + rank->waited;
        return true;
    }
    double wait = link->sent[link->n_received++] - (one->us + rank->waited);
    rank->waited += wait > 0 ? wait : 0;
    return true;
}

/* The meeting that a rank has come to; NULL: it has ended. */
static const meeting *next_meeting(const replay_rank *self) {
    return self->next < self->n_meetings ? &self->meetings[self->next] : NULL;
}

/* Ends the collective that a rank has come to, if all of its classes have. */
static bool meet(const replay *self, int c) {
    const meeting *one = next_meeting(&self->ranks[c]);
    const member_group *group = &self->ranks[c].groups[one->group];
    double last = 0;
    for (int i = 0; i < group->n_classes; i++) {
        const replay_rank *other = &self->ranks[group->classes[i]];
        const meeting *theirs = next_meeting(other);
        if (!theirs || theirs->kind != MEET || other->groups[theirs->group].key != group->key)
            return false;
        last = theirs->us + other->waited > last ? theirs->us + other->waited : last;
    }
    for (int i = 0; i < group->n_classes; i++) {
        replay_rank *other = &self->ranks[group->classes[i]];
        other->waited = last - next_meeting(other)->us;
        other->next++;
    }
    return true;
}

/* As far as a rank comes; whether that is any further. */
static bool advance(const replay *self, int c, replay_class_of *class_of, const void *user, link_queue **links) {
    replay_rank *rank = &self->ranks[c];
    int before = rank->next;
    for (const meeting *one; (one = next_meeting(rank));) {
        if (one->kind == MEET ? !meet(self, c) : !pass_message(self, c, class_of(user, one->peer), one, links))
            break;
        rank->next += one->kind != MEET;
    }
    return rank->next > before;
}

bool replay_run(replay *self, replay_class_of *class_of, const void *user, double *waited) {
    link_queue *links = NULL;
    if (self->is_broken || self->n == 0)
        return false;
    for (int c = 0; c < self->n; c++)
        for (int g = 0; g < self->ranks[c].n_groups; g++)
            if (!find_classes(self, &self->ranks[c].groups[g], class_of, user))
                return false;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (int c = 0; c < self->n; c++)
            goes_on = advance(self, c, class_of, user, &links) || goes_on;
    }
    bool all = true;
    for (int c = 0; c < self->n; c++) {
        all = all && !next_meeting(&self->ranks[c]);
        waited[c] = self->ranks[c].waited;
    }
    return all;
}
