import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta message`.
struct MessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Single messages: add one to a continuous delivery, look one up.",
        subcommands: [MessageSendCommand.self, MessageShowCommand.self]
    )
}

/// `pushmta message send DELIVERY`.
struct MessageSendCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Add a message to a continuous delivery in progress; prints its id.",
        discussion: """
            A user gets one message on each device, so that there may be several ids. `pushmta message show` tells what became of \
            one.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The continuous delivery's id.")
    var delivery: Int64

    @Option(help: "A subscription by its id.")
    var subscription: Int64?

    @Option(name: .customLong("user"), help: "A user by the key.")
    var userKey: String?

    @Option(help: "A push token.")
    var token: String?

    @Option(help: "Values of the message's fields, a JSON object, or the path of a file behind @.")
    var variables: String?

    @Option(
        help:
            "A name for this message: sent again with it within 24 hours, nothing is sent and the same ids are printed."
    )
    var idempotencyKey: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard address != nil else { throw ValidationError("Give exactly one of --subscription, --user and --token.") }
    }

    private var address: MessageAddress? {
        switch (subscription, userKey, token) {
        case (let id?, nil, nil): .subscription(id)
        case (nil, let key?, nil): .userKey(key)
        case (nil, nil, let token?): .pushToken(token)
        default: nil
        }
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
        abstract: "Show a message of any delivery and what became of it.",
        discussion:
            "Its id is the delivery's and the message's number in it, as in 18-1: pushmta.message_status shows it."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The message's id.")
    var id: String

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let found = try await StoreSession.run(loaded.values) { try await $0.message(id) }
        guard let row = found else {
            throw CommandFailure(.data, "There is no message \(id), or its day is no longer kept.")
        }
        let cells: [(String, Cell)] = [
            ("id", .text(row.id)), ("delivery_id", .integer(row.deliveryID)), ("sequence", Cell(row.sequence)),
            ("subscription_id", .integer(row.subscriptionID)), ("status", .text(row.status.name)),
            ("reason", .text(row.reason)), ("http_status", Cell(row.httpStatus)), ("attempt", Cell(row.attempt)),
            ("gateway_message_id", Cell(row.gatewayMessageID)), ("received", .flag(row.isReceived)),
            ("clicked", .flag(row.isClicked)),
        ]
        guard !json else { return StandardOutput.line(Cell.object(cells).json) }
        var table = Table(cells.map(\.0))
        table.add(cells.map(\.1))
        table.show(json: false)
    }
}
