"""What tests ask of the doctor's findings."""

from plugins.doctor import examine


def found(checks, name, subject):
    (finding,) = examine({name: checks.CHECKS[name]}, subject)
    assert finding.name == name and finding.measured and (finding.good or finding.expected and finding.remedy)
    return finding


def wrong(checks, name, subject, words):
    finding = found(checks, name, subject)
    assert not finding.good and words in finding.measured, finding
    assert finding.remedy in str(finding) and name in str(finding)
