import ArgumentParser
import Store

/// `pushmta delivery target ID FILE`: fills the list of a delivery with explicit targets.
struct DeliveryTargetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "target",
        abstract: "Add explicit targets from a CSV file to a delivery that is not started.",
        discussion: """
            The first line names the columns: user_key, subscription_id, push_token, one or more of them, of which each line fills in \
            one; every other name is a variable of the message. With --exclude those of the lines get nothing instead, whatever the \
            delivery's target is. A malformed line is reported with its number and left out, the rest goes in; the exit status is \
            then 65.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(help: "The file.")
    var file: String

    @Flag(help: "Exclude them from this delivery.")
    var exclude = false

    func execute(_ loaded: LoadedSettings) async throws {
        var file = try AddresseeFile(path: file, takesVariables: !exclude)
        var added = 0
        let store = try await Store.connect(StoreSession.configuration(loaded.values, role: "admin"))
        do {
            guard try await store.targeting(ofDelivery: id).isExplicit || exclude else {
                throw CommandFailure(
                    .data,
                    "Delivery \(id) goes to all subscribers, so a list would change nothing: create it with --explicit-targets."
                )
            }
            while let targets = try file.next() {
                if exclude {
                    try await store.exclude(Addressees(targets), fromDelivery: id)
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
            "\(added) \(exclude ? "excluded from" : "added to") delivery \(id), \(file.faultyLines) lines left out."
        )
        try file.report()
    }
}
