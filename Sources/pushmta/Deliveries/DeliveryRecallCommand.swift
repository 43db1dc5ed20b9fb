import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery recall ID`.
struct DeliveryRecallCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "recall",
        abstract: "Take back a delivery: stop what has not left, replace or remove what was sent.",
        discussion: """
            What has not left stops within a second. --replace sends a content of yours under the same collapse id or \
            tag, --remove asks apps with our SDKs to remove the notification; both go to those who may have seen the \
            message and have not opened it. Once the delivery that does so has ended, the other one can be recalled again. \
            Without --reason, it shows what became of the messages of a recalled delivery.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "Why it is recalled.")
    var reason: String?

    @Option(
        name: .customLong("replace"),
        help: "The content that takes its place, as JSON text, or the path of a file after @."
    )
    var content: String?

    @Flag(help: "Remove it from devices.")
    var remove = false

    func validate() throws {
        guard content != nil || remove else { return }
        guard reason != nil else { throw ValidationError("Give --reason.") }
        if content != nil, remove { throw ValidationError("Give --replace or --remove, not both.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let text = try content.map { try ContentText(argument: $0).text }
        let mode: RecallMode = content != nil ? .replace : remove ? .remove : .stop
        let report = try await StoreSession.run(loaded.values) { store in
            if let reason { try await store.recallDelivery(id, reason: reason, mode: mode, content: text) }
            return try await store.recallReport(ofDelivery: id)
        }
        guard let report else { throw CommandFailure(.data, "Delivery \(id) was not recalled. Give --reason.") }
        let child = report.child.map { ", and delivery \($0) goes to those who may have seen it" } ?? ""
        StandardOutput.line(
            "Delivery \(id) is recalled\(child). Of \(report.target) messages \(report.pending) are pending, "
                + "\(report.unsent) unsent, \(report.replaced) replaced, \(report.removed) removed, "
                + "\(report.unreached) not reached by the second delivery, \(report.tooLate) too late.",
            Self.cells(id, report)
        )
    }

    private static func cells(_ id: Int64, _ report: RecallReport) -> [(String, Cell)] {
        [
            ("id", .integer(id)), ("mode", .text(report.mode.rawValue)), ("reason", .text(report.reason)),
            ("recalled_by", .text(report.recalledBy)), ("recalled_at", .text(report.recalledAt.internetText)),
            ("recall_delivery", Cell(report.child)), ("recall_state", Cell(report.childState?.rawValue)),
            ("target", .integer(report.target)), ("pending", .integer(report.pending)),
            ("unsent", .integer(report.unsent)), ("replaced", .integer(report.replaced)),
            ("removed", .integer(report.removed)),
            ("unreached", .integer(report.unreached)), ("too_late", .integer(report.tooLate)),
        ]
    }
}
