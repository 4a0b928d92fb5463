"""Builds rules/api, rules/tables and rules/support from the fact tables; run it whenever a fact changes.

    python tools/build_rules.py --facts FACTS [--out rules]

FACTS holds ``api/`` (symbols, families, headers, libraries, nvml_amdsmi) and ``ecosystem/`` (packages,
containers, tools_env, targets, os_driver, frameworks). What the facts leave open stands in
``tools/seed``, every correction with its own source. Same input, same bytes. See docs/knowledge.md.
"""

import argparse
import sys
from pathlib import Path

from rulebuild import api, deployment, libraries, nvml, overlay, packages, support
from rulebuild.files import Row, read, write

from portaudit.knowledge.schema import (
    FRAMEWORK_COLUMNS,
    LIBRARY_COLUMNS,
    RELEASE_COLUMNS,
    TABLE_COLUMNS,
    TARGET_COLUMNS,
)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--facts", type=Path, required=True, help="folder with api/ and ecosystem/")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[1] / "rules")
    parser.add_argument("--seed", type=Path, default=Path(__file__).resolve().parent / "seed")
    options = parser.parse_args(argv)
    build(options.facts, options.seed, options.out)
    return 0


def build(facts: Path, seed: Path, out: Path) -> None:
    as_of = max(row["as_of"] for row in read(facts / "api" / "families.csv"))
    changes = overlay.corrections(seed)
    _api(facts / "api", seed, out, changes, as_of)
    ecosystem = facts / "ecosystem"
    tables: dict[str, list[Row]] = {
        "headers": libraries.headers(facts / "api", seed, as_of),
        "libraries": libraries.libraries(facts / "api", seed, as_of),
        "packages": packages.packages(ecosystem, seed, facts / "api", as_of),
        "modules": packages.modules(ecosystem, seed),
    } | {name: deployment.table(name, ecosystem, seed) for name in deployment.TABLES}
    for name, rows in tables.items():
        columns = LIBRARY_COLUMNS if name == "libraries" else TABLE_COLUMNS
        count = write(out / "tables" / f"{name}.csv", columns, overlay.apply(name, rows, changes))
        _say(f"tables/{name}.csv: {count}")
    for name, columns, rows in (
        ("targets", TARGET_COLUMNS, support.targets(ecosystem, seed)),
        ("releases", RELEASE_COLUMNS, support.releases(ecosystem)),
        ("frameworks", FRAMEWORK_COLUMNS, support.frameworks(ecosystem)),
    ):
        _say(f"support/{name}.csv: {write(out / 'support' / f'{name}.csv', columns, rows)}")
    left = deployment.unused(ecosystem, seed)
    if left:
        _say(f"facts without a row: {', '.join(left)}")


def _api(facts: Path, seed: Path, out: Path, changes: list[Row], as_of: str) -> None:
    family_rows = overlay.apply("families", api.families(facts) + api.own_families(seed), changes)
    by_library = api.symbols(facts, family_rows, as_of)
    nvml.annotate(by_library["nvml"], facts)
    api.apply_policies(by_library, seed)
    for library, rows in overlay.additions(seed).items():
        known = {row["name"] for row in rows}
        by_library[library] = rows + [r for r in by_library.get(library, []) if r["name"] not in known]
    for library, rows in by_library.items():
        by_library[library] = overlay.apply(f"api/{library}", rows, changes)
    _say(f"api: {api.write_all(out, family_rows, by_library)} names in {len(by_library)} libraries")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
