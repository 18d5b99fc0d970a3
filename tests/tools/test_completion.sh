#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The completions of dtensor and dtrun: bash functions are called as the shell calls them; zsh functions with stubs for
# the functions of zsh, if zsh is installed.
set -euo pipefail
folder=$DTENSOR_SOURCE/tools/completion
PATH=$DTENSOR_BUILD/bin:$PATH
failures=0

compare() { # title, expected, got
    if [ "$2" != "$3" ]; then
        printf '%s: expected "%s", got "%s"\n' "$1" "$2" "$3"
        failures=$((failures + 1))
    fi
}

# Completes the last word with the function; prints the candidates on one line.
complete_words() { # function, words
    local call=$1
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "$call" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"
}

# shellcheck source=/dev/null
source "$folder/dtensor.bash"
# shellcheck source=/dev/null
source "$folder/dtrun.bash"
compare "registered" "complete -F _dtensor dtensor" "$(complete -p dtensor)"
commands=$(dtensor --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | xargs)
compare "commands" "$commands help --help --version" "$(complete_words _dtensor dtensor "")"
compare "one command" "query" "$(complete_words _dtensor dtensor q)"
compare "help" "mesh machine meshes" "$(complete_words _dtensor dtensor help m)"
compare "topics" "placements" "$(complete_words _dtensor dtensor help pla | sed 's/plan //')"
compare "options" "--ranks --rank" "$(complete_words _dtensor dtensor show --r)"
compare "options of mesh" "--slice" "$(complete_words _dtensor dtensor mesh --s)"
compare "values" "auto always" "$(complete_words _dtensor dtensor show --color a)"
compare "planners" "min_cost" "$(complete_words _dtensor dtensor plan --planner m)"
compare "no values" "" "$(complete_words _dtensor dtensor show --ranks "")"
compare "words" "" "$(complete_words _dtensor dtensor show "")"
cd "$DTENSOR_SOURCE"
compare "ops" "addmm addmm_ addmv addmv_" "$(complete_words _dtensor dtensor ops addm)"
compare "ops to verify" "addmm addmm_ addmv addmv_" "$(complete_words _dtensor dtensor verify add addm)"
compare "options of verify" "--verbose" "$(complete_words _dtensor dtensor verify --v)"
compare "files" "CMakeLists.txt" "$(complete_words _dtensor dtensor show --svg CMakeL)"
compare "checkpoints" "CMakeLists.txt" "$(complete_words _dtensor dtensor checkpoint CMakeL)"
compare "programs to estimate" "dtensor" "$(complete_words _dtensor dtensor estimate --ranks 8 -- dtenso)"
compare "their arguments" "CMakeLists.txt" "$(complete_words _dtensor dtensor estimate -- dtensor --svg CMakeL)"
compare "options of estimate" "--memory" "$(complete_words _dtensor dtensor estimate --mem)"
# Every option that takes a value is known to do so: it completes to files, to words, or to nothing, and not to options.
for command in $commands; do
    for option in $(dtensor "$command" --help | sed -n '/^options:/,/^$/s/^  \(--[a-z-]*\) [A-Z].*/\1/p'); do
        compare "the value of $command $option" "" "$(complete_words _dtensor dtensor "$command" "$option" -)"
    done
done

compare "binding of ranks" "core" "$(complete_words _dtrun dtrun --bind c)"
compare "number of ranks" "" "$(complete_words _dtrun dtrun -n "")"
compare "arguments of the program" "CMakeLists.txt" "$(complete_words _dtrun dtrun -n 4 cat CMakeL)"
compare "program" "dtensor" "$(complete_words _dtrun dtrun -n 4 dtenso)"
if [ -x "$DTENSOR_BUILD/bin/dtrun" ]; then
    compare "options of dtrun" "--topology --tag-output --timeout --threads" "$(complete_words _dtrun dtrun --t)"
    # Options that take a value are distinguished from the program that follows.
    for option in $(dtrun --help | sed -n 's/^ *\(-[a-z], *\)\{0,1\}\(--[a-z-]*\) [A-Z].*/\2/p'); do
        compare "the program after $option" "CMakeLists.txt" "$(complete_words _dtrun dtrun "$option" x cat CMakeL)"
        compare "zsh and $option" "1" "$(grep -c -e "$option" "$folder/_dtrun")"
    done
fi

if command -v zsh >/dev/null; then
    zsh -n "$folder/_dtensor"
    zsh -n "$folder/_dtrun"
    # shellcheck disable=SC2016 # zsh expands it
    stubs='_arguments() { print -r -- "${(F)@}"; }; _describe() { print -r -- "$1 ${(P)2}"; }; _values() { print -r -- "$@"; }'
    got=$(zsh -fc "$stubs; words=(dtensor '') CURRENT=2; source '$folder/_dtensor'" | tr '\n' '|')
    compare "zsh commands" 1 "$(grep -c 'show:draw which rank.*mesh:print.*query:answer.*option --help --version' <<<"$got")"
    got=$(zsh -fc "$stubs; words=(dtensor show '') CURRENT=3; source '$folder/_dtensor'")
    compare "zsh values" 1 "$(grep -c -e '^--color\[.*\]:when:(auto always never)$' <<<"$got")"
    compare "zsh flags" 1 "$(grep -c -e '^--json\[.*\]$' <<<"$got")"
    compare "zsh options" "$(dtensor show --help | grep -c '^  --')" "$(grep -c -e '^--' <<<"$got")"
fi
[ "$failures" -eq 0 ]
