import Administration
import Content
import Foundation
import PushCore
import Store

/// The result of a content check, for people or programs.
enum ContentCheckReport {
    /// Shows a valid content.
    static func show(_ results: [ContentCheck.Result], _ content: PushContent, file: String, json: Bool) {
        var table = Table(["application", "format", "smallest_payload", "limit", "fields"])
        for result in results {
            table.add([
                Cell(result.application), .text(result.format.rawValue), Cell(result.size), Cell(result.limit),
                .text(result.fields.joined(separator: ", ")),
            ])
        }
        let notices = Set(results.flatMap(\.notices)).sorted()
        let warnings = content.warnings
        guard !json else {
            let locales = Cell.list(content.locales.map { .text($0) })
            return StandardOutput.line(
                Cell.object([
                    ("ok", .flag(true)), ("problems", .list([])), ("locales", locales), ("formats", table.cell),
                    ("notices", Cell.list(notices.map { .text($0) })), ("warnings", .list(warnings.map(cell))),
                ]).json
            )
        }
        let locales = content.locales.isEmpty ? "" : "; locales: \(content.locales.joined(separator: ", "))"
        let end = (notices.map { "\nNote: \($0)." } + warnings.map { "\nWarning: \($0)." }).joined()
        StandardOutput.line("\(file) is valid\(locales)\n\(table.text)\(end)")
    }

    /// Shows a content that cannot be sent.
    static func show(_ error: ContentError, file: String, json: Bool) {
        guard json else {
            return StandardError.write("\(file) is not valid:\n\(error)\n")
        }
        let problems = error.problems.map(cell)
        StandardOutput.line(Cell.object([("ok", .flag(false)), ("problems", .list(problems))]).json)
    }

    private static func cell(_ problem: ContentProblem) -> Cell {
        .object([("key", .text(problem.key)), ("cause", .text(problem.cause)), ("remedy", .text(problem.remedy))])
    }
}
