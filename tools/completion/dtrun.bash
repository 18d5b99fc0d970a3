# SPDX-License-Identifier: Apache-2.0
# bash completion for dtrun(1): its options, read from its own help, then a program and the program's arguments.

_dtrun_options() {
    "$1" --help 2>/dev/null | grep -o -- '^ *\(-[a-zA-Z], *\)\?--[a-z-]*' | grep -o -- '-[a-zA-Z-]*'
}

# The index of the first word that is neither an option nor an option's value: the program.
_dtrun_program() {
    local i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -n | --ranks | --restarts | --min-ranks | --bind | --topology | --timeout | --heap | --threads | --machine | --output-dir) ((i++)) ;;
        -*) ;;
        *) break ;;
        esac
    done
    echo "$i"
}

_dtrun() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$(_dtrun_program)" -lt "$COMP_CWORD" ]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    fi
    case $before in
    --bind) mapfile -t COMPREPLY < <(compgen -W 'none core numa package' -- "$word") ;;
    --output-dir) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    --machine | --topology) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    -n | --ranks | --restarts | --min-ranks | --timeout | --heap | --threads) ;;
    *)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(_dtrun_options "$1")" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
        fi
        ;;
    esac
}

complete -o filenames -F _dtrun dtrun
