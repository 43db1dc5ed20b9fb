import Administration
import ArgumentParser
import Foundation
import Gateways
import MTAChild
import PushCore
import Store

struct DeliveryPreviewCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show the headers and the exact payload that a subscription would get.",
        discussion: """
            The payload is made by the child's own code. For a delivery that is not started, or a content without a \
            delivery, the ids in it are examples. The authorization is not shown. Exit status 1 if the message would \
            not be sent.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64?

    @Option(help: "A content instead of a delivery: the path of a file. Needs --app.")
    var content: String?

    @Option(name: [.customLong("app"), .customLong("application")], help: "The application that the content is for.")
    var application: String?

    @Option(help: "A variant of the delivery's experiment, from 1 to 8.")
    var variant: VariantNumber?

    @Option(help: "A subscription by its id or push token, or a seed address.")
    var subscription: String

    @Option(help: "Values for the fields of the message: a JSON object, or the path of a file after @.")
    var variables: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (id == nil) != (content == nil) else { throw ValidationError("Give a delivery's id or --content FILE.") }
        if content != nil, application == nil { throw ValidationError("--content needs --app.") }
        if content != nil, variant != nil { throw ValidationError("--variant needs a delivery.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let text = try content.map { try ContentText(file: $0) }
        _ = try text?.content()
        let values = try variables.map { try ContentText(argument: $0, of: "variables") }
        try values?.requireObject("variables", example: #"{"firstName": "Ada"}"#)
        let preview = try await StoreSession.run(loaded.values) { store in
            let source =
                if let text, let application {
                    try await PreviewSource.content(text.text, application: application, store)
                } else {
                    try await PreviewSource.delivery(
                        id ?? 0,
                        variant: variant?.number ?? 0,
                        application: application,
                        store
                    )
                }
            return try await source.preview(of: subscription, variables: values?.text, store)
        }
        if json {
            StandardOutput.line(PreviewReport.cell(preview).json)
        } else {
            StandardOutput.line(PreviewReport.text(preview))
        }
        guard preview.problem == nil else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }
}

/// A message preview, for people or programs.
enum PreviewReport {
    /// The headers, an empty line, and the payload as it is sent.
    static func text(_ preview: MessagePreview) -> String {
        var lines = preview.headers.map { "\($0.name): \($0.value)" }
        lines += ["", String(decoding: preview.payload, as: UTF8.self), ""]
        var end = "\(preview.size) bytes of \(preview.limit)"
        if !preview.locale.isEmpty { end += ", locale \(preview.locale)" }
        lines.append(end)
        if let notice = preview.notice { lines.append("Note: \(notice).") }
        if let problem = preview.problem { lines.append("It would not be sent: \(problem)") }
        return lines.joined(separator: "\n")
    }

    /// The same as one object, with the payload as a text so that nothing of it is lost.
    static func cell(_ preview: MessagePreview) -> Cell {
        .object([
            ("headers", .object(preview.headers.map { ($0.name, .text($0.value)) })),
            ("payload", .text(String(decoding: preview.payload, as: UTF8.self))),
            ("size", Cell(preview.size)), ("limit", Cell(preview.limit)), ("locale", .text(preview.locale)),
            ("problem", Cell(preview.problem)), ("notice", Cell(preview.notice)),
        ])
    }
}
