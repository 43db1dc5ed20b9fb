import ArgumentParser
import Foundation
import MTAChild
import PushCore
import Store

/// `pushmta delivery preview`.
struct DeliveryPreviewCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show the headers and the exact payload that a subscription would get.",
        discussion: """
            The payload is made by the child's own code. Of a delivery that is not started, and of a content that is none yet, the \
            ids in it are examples; the authorization is not shown. Exit status 1 if the message would not go out.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64?

    @Option(help: "A content in the place of a delivery: the path of a file. Needs --app.")
    var content: String?

    @Option(name: [.customLong("app"), .customLong("application")], help: "The application that the content is for.")
    var application: String?

    @Option(help: "A subscription by its id, its push token, or a seed address.")
    var subscription: String

    @Option(help: "Values of the message itself for its fields, a JSON object, or the path of a file behind @.")
    var variables: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (id == nil) != (content == nil) else { throw ValidationError("Give a delivery's id or --content FILE.") }
        if content != nil, application == nil { throw ValidationError("--content needs --app.") }
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
                    try await PreviewSource.delivery(id ?? 0, application: application, store)
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
