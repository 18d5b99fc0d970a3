/* SPDX-License-Identifier: Apache-2.0
 *
 * What `dtensor help TOPIC` prints: short pages on things that several commands and the library share. dtensor(7) has
 * the details.
 */
#ifndef DTENSOR_TOOL_HELP_TOPICS_H
#define DTENSOR_TOOL_HELP_TOPICS_H

typedef struct help_topic {
    const char *name, *summary, *text;
} help_topic;

/* All topics; the last one has no name. */
extern const help_topic help_topics[];

/* The topic of this name, or NULL. */
const help_topic *help_topic_find(const char *name);

#endif
