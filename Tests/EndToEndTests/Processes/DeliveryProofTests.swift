import Foundation
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// A proof is sent to the gateway and answered before its delivery starts.
@Suite struct DeliveryProofTests {
    @Test func aProofArrivesAndTheDeliveryIsUntouched() async throws {
        try await DeliverySite.with { site in
            let rows = try await site.store.subscriptions(application: site.application, limit: 10)
            let token = String(repeating: "c1", count: 32)
            try await site.run("seed", "add", "lab", "--app", site.application, "--token", token, "--locale", "fr")
            let id = try await site.store.createDelivery(
                NewDelivery(
                    label: "sale",
                    applications: [site.application],
                    content: #"{"ios":{"title":"Hello"},"locales":{"fr":{"ios":{"title":"Bonjour"}}}}"#
                )
            )
            let to = "lab, \(rows[0].id),\(rows[1].pushToken)"
            let proof = try await site.run("delivery", "proof", String(id), "--to", to, "--wait")
            let proofID = try #require(Int64(proof.output.trimmingCharacters(in: .whitespacesAndNewlines)))
            let sent = try await site.store.deliveryProgress(proofID)
            #expect(sent.state == .finished && sent.sent == 3 && sent.target == 3 && sent.label == "Proof: sale")
            #expect(try await site.store.deliveryProgress(id).state == .editing)
            // Again, to all seed addresses: there is one.
            let second = try await site.run("delivery", "proof", String(id), "--wait")
            #expect(second.errors.contains("finished"))
            try await site.store.startDelivery(id)
            let all = try await site.progress(id)
            #expect(all.sent == 50 && all.target == 50, "the seed is not one of the subscribers")
            try await site.run("delivery", "proof", String(id), "--to", "nobody", expect: 65)
            try await site.run("delivery", "proof", "99", expect: 65)
            let bad = try await site.store.createDelivery(
                NewDelivery(label: "bad", applications: [site.application], content: #"{"ios":{"title":"{{#a}}x"}}"#)
            )
            let refused = try await site.run("delivery", "proof", String(bad), expect: 65)
            #expect(refused.errors.contains("never closed"))
        }
    }
}
