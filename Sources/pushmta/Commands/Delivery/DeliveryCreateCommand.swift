import ArgumentParser
import Foundation
import PushCore
import Store

/// `pushmta delivery create`.
struct DeliveryCreateCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a delivery; prints its id.",
        discussion: """
            It goes to all enabled subscriptions of the applications, or, with --explicit-targets, to the rows that you write \
            into pushmta.delivery_target before its start.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "Its name.")
    var label: String

    @Option(name: .customLong("app"), help: "An application by name; may be repeated.")
    var applications: [String]

    @Option(help: "The content as JSON text, or the path of a file behind @, as in @content.json.")
    var content: String

    @Flag(help: "The target is what stands in pushmta.delivery_target.")
    var explicitTargets = false

    @Option(help: "Greater goes first; 0 is normal.")
    var priority: Int16 = 0

    @Option(help: "Seconds after its start in which messages are sent.")
    var validity: Int64 = 432_000

    @Option(help: "How often a message is sent again at most after failures that may pass.")
    var maxRetries: Int32 = 5

    @Option(help: "Seconds before the first retry; they double with each.")
    var retryPeriod: Int32 = 60

    @Flag(help: "Never send a message again that the gateway may have had: record it as unknown.")
    var reportAmbiguous = false

    @Flag(help: "A user gets it on one subscription only.")
    var onePerUser = false

    @Flag(help: "Start it at once.")
    var start = false

    func execute(_ loaded: LoadedSettings) async throws {
        let delivery = NewDelivery(
            label: label,
            applications: applications,
            content: try contentText(),
            explicitTargets: explicitTargets,
            priority: priority,
            validitySeconds: validity,
            ambiguityPolicy: reportAmbiguous ? .report : .resend,
            onePerUser: onePerUser,
            maxRetries: maxRetries,
            retryPeriodSeconds: retryPeriod
        )
        let id = try await StoreSession.run(loaded.values) { store in
            let id = try await store.createDelivery(delivery)
            if start { try await store.startDelivery(id) }
            return id
        }
        StandardOutput.line(String(id))
    }

    private func contentText() throws -> String {
        var text = content
        if content.hasPrefix("@") {
            let path = String(content.dropFirst())
            do {
                text = try String(contentsOfFile: path, encoding: .utf8)
            } catch {
                throw CommandFailure(
                    .data,
                    "The content file \(path) cannot be read: give the path of a UTF-8 JSON file."
                )
            }
        }
        do {
            _ = try PushContent(json: text)
        } catch {
            throw CommandFailure(.data, "The content is not right: \(error)")
        }
        return text
    }
}
