import Administration
import ArgumentParser
import PushCore
import Store

struct MessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Single messages: add one to a continuous delivery, look one up, or record its success.",
        subcommands: [MessageSendCommand.self, MessageShowCommand.self, MessageConvertCommand.self]
    )
}

/// `pushmta message send DELIVERY`.
struct MessageSendCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Add a message to a continuous delivery in progress; prints its id.",
        discussion: """
            A user gets one message on each device, so several ids may be printed. `pushmta message show` shows what \
            became of a message.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The continuous delivery's id.")
    var delivery: Int64

    @Option(help: "A subscription by its id.")
    var subscription: Int64?

    @Option(name: .customLong("user"), help: "A user, by key.")
    var userKey: String?

    @Option(help: "A push token.")
    var token: String?

    @Option(help: "Values for the fields of the message: a JSON object, or the path of a file after @.")
    var variables: String?

    @Option(
        help:
            "A name for this message: a repeated call with it within 24 hours sends nothing and prints the same ids."
    )
    var idempotencyKey: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard address != nil else { throw ValidationError("Give exactly one of --subscription, --user and --token.") }
    }

    private var address: Addressee? {
        Addressee(subscription: subscription, userKey: userKey, pushToken: token)
    }

    func execute(_ loaded: LoadedSettings) async throws {
        guard let address else {
            throw CommandFailure(.usage, "Give exactly one of --subscription, --user and --token.")
        }
        var message = NewMessage(deliveryID: delivery, address: address, idempotencyKey: idempotencyKey)
        if let variables {
            let text = try ContentText(argument: variables, of: "variables")
            try text.requireObject("variables", example: #"{"firstName": "Ada"}"#)
            message.variables = text.text
        }
        let new = message
        let sent = try await StoreSession.run(loaded.values) { try await $0.sendMessage(new) }
        guard json else {
            for one in sent { StandardOutput.line(one.id + (one.isRepeated ? " (sent before)" : "")) }
            return
        }
        var table = Table(["id", "delivery_id", "sequence", "subscription_id", "repeated"])
        for one in sent {
            table.add([
                .text(one.id), .integer(one.deliveryID), Cell(one.sequence), .integer(one.subscriptionID),
                .flag(one.isRepeated),
            ])
        }
        table.show(json: true)
    }
}

/// `pushmta message show ID`.
struct MessageShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Find a message by any of its ids, and show what became of it.",
        discussion: """
            An id may be: delivery and number, as in 18-1, which pushmta.message_status shows; _mId as a UUID or a \
            number, decimal or hexadecimal; an apns-id; the address of a device's tracking request; or, with \
            --delivery, the name that FCM returned, complete or only its last part. An ambiguous id may lead to \
            several messages; matched_as says how it was read.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "An id of the message.")
    var id: String

    @Option(help: "The delivery to search for a gateway's id; for a continuous delivery, all of its days.")
    var delivery: Int64?

    @Flag(help: "Print JSON, one line per message.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let search = try await StoreSession.run(loaded.values) { try await $0.findMessages(id, delivery: delivery) }
        guard !search.found.isEmpty else {
            let words = search.findings.map(\.words).joined(separator: " ")
            throw CommandFailure(.data, "Message \(id) does not exist, or its day is no longer kept. \(words)")
        }
        var table: Table?
        for found in search.found {
            let cells = Self.cells(found)
            guard !json else {
                StandardOutput.line(Cell.object(cells).json)
                continue
            }
            var rows = table ?? Table(cells.map(\.0))
            rows.add(cells.map(\.1))
            table = rows
        }
        table?.show(json: false)
    }

    private static func cells(_ found: FoundMessage) -> [(String, Cell)] {
        let row = found.message
        return [
            ("id", .text(row.id)), ("delivery_id", .integer(row.deliveryID)), ("sequence", Cell(row.sequence)),
            ("subscription_id", .integer(row.subscriptionID)), ("status", .text(row.status.name)),
            ("reason", .text(row.reason)), ("http_status", Cell(row.httpStatus)), ("attempt", Cell(row.attempt)),
            ("gateway_message_id", Cell(row.gatewayMessageID)), ("received", .flag(row.isReceived)),
            ("clicked", .flag(row.isClicked)), ("matched_as", .text(found.kind.rawValue)),
        ]
    }
}
