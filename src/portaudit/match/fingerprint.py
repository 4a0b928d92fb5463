"""What makes a finding the same finding in another commit: rule, path, subject, line text without blanks,
ordinal."""

from collections import Counter
from hashlib import blake2b

import msgspec

from portaudit.model.findings import Finding


def with_fingerprints(findings: list[Finding]) -> list[Finding]:
    """The findings with their fingerprints; the order decides the ordinal among equal ones."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    done = []
    for finding in findings:
        key = (finding.rule, finding.span.path, finding.subject, "".join(finding.line_text.split()))
        ordinal = seen[key]
        seen[key] += 1
        text = "\0".join((*key, str(ordinal))).encode("utf-8", "surrogateescape")
        done.append(msgspec.structs.replace(finding, fingerprint=blake2b(text, digest_size=10).hexdigest()))
    return done
