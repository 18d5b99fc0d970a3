# SPDX-License-Identifier: Apache-2.0
# bash completion for dtensor(1). Commands and options are read from the command's own help, so that a new one needs no
# change here; only the values of some options are listed.

_dtensor_options() {
    "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p'
}

_dtensor_commands() {
    "$1" --help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_dtensor_topics() {
    "$1" --help 2>/dev/null | sed -n '/^topics/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The planners that the help of `dtensor plan` lists: "greedy, graph, …, or all to compare them".
_dtensor_planners() {
    "$1" plan --help 2>/dev/null | sed -n 's/^  --planner [A-Z]* *\(.*\) to compare.*/\1/p' | sed 's/,//g; s/ or / /'
}

# Completes a file or a folder, whose name ends with a slash.
_dtensor_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# Completes the value of an option; fails if the option takes none.
_dtensor_value() {
    case $1 in
    --dtype) mapfile -t COMPREPLY < <(compgen -W 'f64 f32 f16 bf16' -- "$2") ;;
    --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$2") ;;
    --planner) mapfile -t COMPREPLY < <(compgen -W "$(_dtensor_planners "${COMP_WORDS[0]}")" -- "$2") ;;
    --svg | --trace | --machine | --shapes | --convert | --output | -o) _dtensor_files "$2" ;;
    --file-bytes | --most | --mesh | --memory | --value | --threads | --cores | --rank | --ranks | --width | --slice | --flatten) ;;
    --stages | --micro | --times | --hop) ;;
    *) return 1 ;;
    esac
}

# Completes the program after --, and its arguments; fails before it.
_dtensor_program() {
    local i word=${COMP_WORDS[COMP_CWORD]}
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" = -- ] || continue
        if ((i == COMP_CWORD - 1)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
        else
            _dtensor_files "$word"
        fi
        return 0
    done
    return 1
}

_dtensor() {
    local program=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_dtensor_commands "$program") help --help --version" -- "$word")
    elif [ "${COMP_WORDS[1]}" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_dtensor_commands "$program") $(_dtensor_topics "$program")" -- "$word")
    elif [ "${COMP_WORDS[1]}" = estimate ] && _dtensor_program; then
        :
    elif _dtensor_value "$before" "$word"; then
        :
    elif [[ ${COMP_WORDS[1]} =~ ^(ops|verify)$ ]] && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" ops 2>/dev/null | sed 's/ .*//')" -- "$word")
    elif [[ ${COMP_WORDS[1]} =~ ^(trace|machine|checkpoint)$ ]] && [[ $word != -* ]]; then
        _dtensor_files "$word"
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_dtensor_options "$program" "${COMP_WORDS[1]}")" -- "$word")
    fi
}

complete -F _dtensor dtensor
