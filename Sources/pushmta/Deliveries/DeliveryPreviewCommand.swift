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

    @Option(help: "A subscription by its id or push token, or a seed address.")
    var subscription: String

    @Option(help: "Values for the fields of the message: a JSON object, or the path of a file after @.")
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

/// What is previewed: a content, and the applications that it goes to.
struct PreviewSource {
    /// The id for a content without a delivery; as short as the first real ones.
    private static let exampleID: Int64 = 16

    private let delivery: SendingDelivery
    private let applications: [ApplicationRow]
    private let accounts: [AccountRow]

    /// A delivery, for all of its applications or a single one.
    static func delivery(_ id: Int64, application: String?, _ store: Store) async throws -> PreviewSource {
        let delivery = try await store.deliveryForPreview(id)
        let job = try await store.job(id)
        let chosen = job.applications.indices.filter { application == nil || job.applications[$0].name == application }
        guard !chosen.isEmpty else {
            throw CommandFailure.unknownName(
                "application of delivery \(id) named",
                application ?? "",
                among: job.applications.map(\.name),
                list: "app list"
            )
        }
        return PreviewSource(
            delivery: delivery,
            applications: chosen.map { job.applications[$0] },
            accounts: chosen.map { job.accounts[$0] }
        )
    }

    /// A content without a delivery.
    static func content(_ json: String, application name: String, _ store: Store) async throws -> PreviewSource {
        let application = try await store.application(named: name)
        let delivery = SendingDelivery(
            id: exampleID,
            label: "",
            content: json,
            state: .editing,
            trackingKey: Array(repeating: 0, count: 16),
            messageIDBase: nil,
            validUntil: nil,
            ambiguityPolicy: .resend,
            maxRetries: 0,
            logDay: LogDay(daysSince2000: 0),
            hasVariables: true
        )
        return PreviewSource(
            delivery: delivery,
            applications: [application],
            accounts: [try await ApplicationRouting(application, store).account]
        )
    }

    /// The message that a subscription would get.
    func preview(of word: String, variables: String?, _ store: Store) async throws -> MessagePreview {
        let address = try await store.previewAddress(word, applications: applications.map(\.id))
        guard let place = applications.firstIndex(where: { $0.id == address.applicationID }) else {
            throw CommandFailure(.software, "The subscription's application has changed in the meantime.")
        }
        let routing = try await ApplicationRouting(applications[place], account: accounts[place], store)
        let previewer = try await MessagePreviewer.make(
            delivery,
            application: applications[place],
            account: routing.account,
            credential: routing.credential,
            projectID: routing.projectID,
            store: store
        )
        let loaded = try await store.loadSubscription(
            address.subscriptionID,
            previewer.fields,
            variables: variables ?? address.variables
        )
        let now = try await store.databaseClock().microsecondsSince1970 / 1_000_000
        guard let preview = previewer.preview(loaded, now: now) else {
            throw CommandFailure(.software, "Subscription \(address.subscriptionID) could not be read.")
        }
        return preview
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
