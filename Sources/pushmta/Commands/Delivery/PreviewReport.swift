import MTAChild

/// A message that is shown to people, or to programs.
enum PreviewReport {
    /// Headers, an empty line, and the payload as it goes out.
    static func text(_ preview: MessagePreview) -> String {
        var lines = preview.headers.map { "\($0.name): \($0.value)" }
        lines += ["", String(decoding: preview.payload, as: UTF8.self), ""]
        var end = "\(preview.size) bytes of \(preview.limit)"
        if !preview.locale.isEmpty { end += ", locale \(preview.locale)" }
        lines.append(end)
        if let notice = preview.notice { lines.append("Note: \(notice).") }
        if let problem = preview.problem { lines.append("It would not go out: \(problem)") }
        return lines.joined(separator: "\n")
    }

    /// The same as one object; the payload is a text in it, so that nothing of it gets lost.
    static func cell(_ preview: MessagePreview) -> Cell {
        .object([
            ("headers", .object(preview.headers.map { ($0.name, .text($0.value)) })),
            ("payload", .text(String(decoding: preview.payload, as: UTF8.self))),
            ("size", Cell(preview.size)), ("limit", Cell(preview.limit)), ("locale", .text(preview.locale)),
            ("problem", Cell(preview.problem)), ("notice", Cell(preview.notice)),
        ])
    }
}
