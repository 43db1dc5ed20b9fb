import Administration
import ArgumentParser
import Store

/// `pushmta delivery target ID FILE`: adds explicit targets to a delivery.
struct DeliveryTargetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "target",
        abstract: "Add explicit targets from a CSV file to a delivery that is not started.",
        discussion: """
            The first line names the columns: user_key, subscription_id and push_token, one or more of them. Each line \
            fills in exactly one. Every other name is a variable of the message. With --exclude, the people in the \
            file get nothing, whatever the delivery's target is. A malformed line is reported with its number and \
            skipped, and the rest is added; the exit status is then 65.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(help: "The file.")
    var file: String

    @Flag(help: "Exclude these people from the delivery.")
    var exclude = false

    func execute(_ loaded: LoadedSettings) async throws {
        var file = try AddresseeFile(path: file, takesVariables: !exclude)
        var added = 0
        let store = try await StoreSession.open(loaded.values)
        do {
            guard try await store.targeting(ofDelivery: id).isExplicit || exclude else {
                throw CommandFailure(
                    .data,
                    "Delivery \(id) goes to all subscribers, so explicit targets would have no effect: create it with --explicit-targets."
                )
            }
            while let lines = try file.next() {
                let targets = lines.map(\.target)
                let addressees = targets.map(\.addressee)
                file.noteStrangers(try await store.unknownPlaces(addressees), of: lines)
                if exclude {
                    try await store.exclude(Addressees(addressees), fromDelivery: id)
                } else {
                    try await store.addTargets(targets, toDelivery: id)
                }
                added += targets.count
            }
            await store.close()
        } catch {
            await store.close()
            throw error
        }
        StandardOutput.line(
            "\(added) \(exclude ? "excluded from" : "added to") delivery \(id)\(file.strangerWords), \(file.faultyLines) lines skipped "
                + "(\(added + file.faultyLines) lines).",
            [("id", .integer(id)), ("added", Cell(added)), ("left_out", Cell(file.faultyLines))]
        )
        try file.report()
    }
}
