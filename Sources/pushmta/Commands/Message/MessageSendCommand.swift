import ArgumentParser
import Store

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
