import ArgumentParser
import Foundation
import PushCore
import Store

/// `pushmta delivery proof ID`.
struct DeliveryProofCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "proof",
        abstract: "Send what a delivery says to seed addresses; prints the proof's id.",
        discussion: """
            The proof is a delivery of its own, with the content as it is now, and counts for itself alone. The delivery need not \
            be started. Without --to it goes to all seed addresses of the delivery's applications.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "Seed addresses, ids of subscriptions, and push tokens of subscriptions, separated with commas.")
    var to: String?

    @Flag(help: "Return when it is over; exit status 1 if not everyone got it.")
    var wait = false

    func execute(_ loaded: LoadedSettings) async throws {
        let words = to.map { list in
            list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        if words?.isEmpty == true { throw CommandFailure(.usage, "--to names nobody.") }
        let complete = try await StoreSession.run(loaded.values) { store in
            // Better here than in the proof's state a moment later.
            _ = try ContentText(text: try await store.deliveryForPreview(id).content).content()
            var addresses: ProofAddresses?
            if let words { addresses = try await store.proofAddresses(words) }
            let proof = try await store.createProof(of: id, to: addresses)
            StandardOutput.line(String(proof))
            guard wait else { return true }
            let progress = try await DeliveryWatch(store: store, id: proof).untilOver()
            let outcomes = try await store.outcomeCounts(delivery: proof)
            let reasons = DeliveryReport.outcomes(outcomes, try await store.exclusionCounts(delivery: proof))
            StandardError.write("Proof \(proof): \(progress.state.rawValue) \(progress.stateReason)\n\(reasons.text)\n")
            return progress.state == .finished && progress.sent == progress.target && progress.excluded == 0
        }
        guard complete else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }
}
