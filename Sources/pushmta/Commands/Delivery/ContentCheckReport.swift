import PushCore

/// What a check of a content found, for people or for programs.
enum ContentCheckReport {
    /// A content that is right.
    static func show(_ findings: [ContentCheck.Finding], _ content: PushContent, file: String, json: Bool) {
        var table = Table(["application", "format", "smallest_payload", "limit", "fields"])
        for finding in findings {
            table.add([
                Cell(finding.application), .text(finding.format.rawValue), Cell(finding.size), Cell(finding.limit),
                .text(finding.fields.joined(separator: ", ")),
            ])
        }
        let notices = Set(findings.flatMap(\.notices)).sorted()
        guard !json else {
            let locales = Cell.list(content.locales.map { .text($0) })
            return StandardOutput.line(
                Cell.object([
                    ("ok", .flag(true)), ("problems", .list([])), ("locales", locales), ("formats", table.cell),
                    ("notices", Cell.list(notices.map { .text($0) })),
                ]).json
            )
        }
        let locales = content.locales.isEmpty ? "" : "; locales: \(content.locales.joined(separator: ", "))"
        let end = notices.map { "\nNote: \($0)." }.joined()
        StandardOutput.line("\(file) is right\(locales)\n\(table.text)\(end)")
    }

    /// A content that cannot be sent.
    static func show(_ error: ContentError, file: String, json: Bool) {
        guard json else {
            return StandardError.write("\(file) is not right:\n\(error)\n")
        }
        let problems = error.problems.map { problem in
            Cell.object([
                ("key", .text(problem.key)), ("cause", .text(problem.cause)), ("remedy", .text(problem.remedy)),
            ])
        }
        StandardOutput.line(Cell.object([("ok", .flag(false)), ("problems", .list(problems))]).json)
    }
}
