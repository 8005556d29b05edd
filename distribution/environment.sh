# Make a virtual environment: a part of train.sh, play.sh and tests/run.sh, in the folder of the program.
# environment FOLDER FILE...: install into FOLDER what the requirements FILEs list, unless it has been.
environment() {
    local folder=$1 file files=() wanted installed
    shift
    wanted=$(cat "$@")
    installed="$folder/installed-${!#}" # named by the last FILE
    if [ -x "$folder/bin/python" ] && [ "$wanted" = "$(cat "$installed" 2>/dev/null)" ]; then
        return # pip, which takes two seconds to say so, need not be asked
    fi
    if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then # there is none, or its making was interrupted
        if [ -f "$folder/pyvenv.cfg" ]; then python3 -m venv --clear "$folder"; else python3 -m venv "$folder"; fi
    fi
    for file in "$@"; do files+=(-r "$file"); done
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "${files[@]}"
    echo "$wanted" >"$installed"
}
