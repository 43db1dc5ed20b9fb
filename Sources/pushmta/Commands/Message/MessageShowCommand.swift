import ArgumentParser
import PushCore
import Store

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
