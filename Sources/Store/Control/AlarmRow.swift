/// Something that an operator should look at, a row of `pushmta.alarm`.
package struct AlarmRow: Sendable, Hashable {
    package enum Severity: String, Sendable, CaseIterable {
        /// Messages are not sent, are sent in vain, or soon will be.
        case critical
        /// An operator should look at it.
        case warning
    }

    package let severity: Severity
    /// Its kind, for programs, such as `gateway_trouble`.
    package let code: String
    /// What its subject is: `application`, `account`, `credential`, `host`, `child`, `versions`, `web process`,
    /// `delivery`, `feedback`, `retention`.
    package let subjectKind: String
    /// The subject's name or id, "" if there is only one of its kind.
    package let subject: String
    /// What is wrong.
    package let text: String
    /// What to do, "" if nothing.
    package let remedy: String
    /// Since when; nil if unknown.
    package let since: DatabaseTime?

    package init(
        severity: Severity,
        code: String,
        subjectKind: String,
        subject: String = "",
        text: String,
        remedy: String = "",
        since: DatabaseTime? = nil
    ) {
        self.severity = severity
        self.code = code
        self.subjectKind = subjectKind
        self.subject = subject
        self.text = text
        self.remedy = remedy
        self.since = since
    }

    /// The kind of the subject with its name.
    package var fullSubject: String { subject.isEmpty ? subjectKind : "\(subjectKind) \(subject)" }

    /// What is wrong, with what to do.
    package var sentence: String { remedy.isEmpty ? text : "\(text): \(remedy)" }
}
