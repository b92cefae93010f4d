#!/usr/bin/env bash
# Builds the wheel and the sdist and tries each in a clean environment outside the checkout: the wheel runs the demo,
# the sdist its own tests. `tools/check_package.sh --quick` runs a part of the sdist's tests.
#   PYTHON   the interpreter (default: python3)
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quick=${1:-}

step() { printf '\n== %s\n' "$*"; }
fresh() { "$python" -m venv "$work/$1" && "$work/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"; }

step "the files that are committed, or all of them where this is an unpacked sdist"
mkdir "$work/tree"
if git -C "$here" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$here" archive HEAD | tar -x -C "$work/tree"
else
    cp -r "$here/." "$work/tree"
fi

step "build"
fresh build build
"$work/build/bin/python" -m build --outdir "$work/dist" "$work/tree" >"$work/build.log" 2>&1 || { tail -40 "$work/build.log"; exit 1; }
ls -l "$work/dist"
mkdir "$work/sdist"
tar -x -z -f "$work"/dist/*.tar.gz -C "$work/sdist" --strip-components 1

step "the sdist has every file, the wheel every file of the package"
lacks() { comm -23 <(sort "$1") <(sort "$2") | sed "s/^/$3 lacks /" | { ! grep .; }; }
(cd "$work/tree" && find . -type f) >"$work/committed"
(cd "$work/sdist" && find . -type f) >"$work/in_sdist"
lacks "$work/committed" "$work/in_sdist" "the sdist"
(cd "$work/sdist/src" && find winnow -type f) >"$work/in_package"
"$python" -m zipfile -l "$work"/dist/*.whl | awk '{print $1}' >"$work/in_wheel"
lacks "$work/in_package" "$work/in_wheel" "the wheel"

step "the wheel in an environment of its own"
fresh wheel "$(echo "$work"/dist/*.whl)"
cd "$work"
wheel/bin/winnow --version
wheel/bin/winnow plugins
wheel/bin/python -c 'import winnow; winnow.init("project", "attention_gfx950"); print(winnow.open("project").plan().total, "legal variants")'
# On a busy machine the sweep's budget may run out; the same command resumes.
wheel/bin/winnow demo demo || wheel/bin/winnow demo demo

step "the sdist: installed, and its own tests"
fresh tests "$work/sdist[test]"
cd sdist
if [ "$quick" = --quick ]; then
    "$work/tests/bin/pytest" -n 2 tests/core tests/registry tests/targets tests/settings tests/selection tests/descriptors \
        tests/test_package.py tests/test_docs.py tests/test_rooms.py
else
    "$work/tests/bin/pytest" -n 2
fi
step "both are sound"
