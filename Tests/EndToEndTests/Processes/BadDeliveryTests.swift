import Crypto
import Foundation
import PushCore
import Store
import Testing

@testable import pushmta

/// What goes wrong with one delivery says so where the operator looks, and spoils no other.
@Suite struct BadDeliveryTests {
    /// Far more than any of it takes, as the machine may be busy.
    private static let limit = Duration.seconds(60)

    private struct Site: Sendable {
        let store: Store
        let audience: TrialAudience
        let settings: Settings
        let simulator: SimulatorReport
        let application: String

        /// Starts a delivery to an application.
        func send(_ content: String = #"{"ios":{"title":"Hello"}}"#, to application: String) async throws -> Int64 {
            let id = try await store.createDelivery(
                NewDelivery(label: application, applications: [application], content: content)
            )
            try await store.startDelivery(id)
            return id
        }

        /// Adds another application with subscribers.
        func add(_ name: String, account: String) async throws -> String {
            let new = NewApplication(
                service: audience.prefix,
                name: name,
                platform: .ios,
                integrationKey: name,
                bundleID: simulator.credentials.apns.topics[0],
                account: account
            )
            _ = try await store.createApplication(new)
            try await audience.seed([name], count: 20)
            return name
        }
    }

    /// Runs `body` with a cluster, a simulator and a supervisor of its own.
    private func withSite(_ body: (Site) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let beside = URL(fileURLWithPath: try Program.pushmta().path).deletingLastPathComponent().path
        let site = try TrialSite(folder: folder.path + "/site", programs: beside)
        do {
            try await site.prepare()
            let settings = try site.writeSettings(children: 4)
            _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
            let simulator = try await site.startSimulator()
            try await site.startSupervisor()
            try await StoreSession.run(settings, role: "test") { store in
                let audience = TrialAudience(store: store, settings: settings, simulator: simulator)
                let names = try await audience.create([.ios])
                try await audience.seed(names, count: 50)
                try await body(
                    Site(
                        store: store,
                        audience: audience,
                        settings: settings,
                        simulator: simulator,
                        application: names[0]
                    )
                )
            }
        } catch {
            try? await site.stop()
            try? site.remove()
            throw error
        }
        try await site.stop()
        try site.remove()
    }

    private func progress(
        _ site: Site,
        _ id: Int64,
        until isReached: (DeliveryProgress) -> Bool = { $0.state.isFinal }
    ) async throws -> DeliveryProgress {
        var last = try await site.store.deliveryProgress(id)
        try await wait {
            last = try await site.store.deliveryProgress(id)
            return isReached(last)
        }
        return last
    }

    private func wait(_ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now.advanced(by: Self.limit)
        while try await !condition() {
            guard ContinuousClock.now < deadline else {
                Issue.record("the deadline passed")
                return
            }
            await Task.yield()
        }
    }

    @Test func oneBadDeliverySpoilsNoOther() async throws {
        try await withSite { site in
            let bare = try await site.send(to: try await site.add("bare", account: site.application))
            let long = try await site.send(
                #"{"ios":{"title":"\#(String(repeating: "x", count: 5_000))"}}"#,
                to: site.application
            )
            let mixed = try await site.send(
                #"{"ios":{"title":"{{nickname|\#(String(repeating: "x", count: 5_000))}}"}}"#,
                to: site.application
            )
            let good = try await site.send(to: site.application)

            let missing = try await progress(site, bare)
            #expect(missing.state == .failed)
            #expect(missing.stateReason.contains("bare") && missing.stateReason.contains("credential set"))
            let tooLong = try await progress(site, long)
            #expect(tooLong.state == .failed)
            #expect(tooLong.stateReason.contains("4096"))
            let failed = try await progress(site, mixed)
            #expect(failed.failed == 50 && failed.sent == 0)
            #expect(try await site.store.outcomeCounts(delivery: mixed).allSatisfy { $0.reason.contains("4096") })
            let sent = try await progress(site, good)
            #expect(sent.state == .finished && sent.sent == 50)
        }
    }

    @Test func aGatewayThatRefusesOrIsAwayLosesNothing() async throws {
        try await withSite { site in
            let wrong = try await site.add("wrong", account: site.application)
            let key = try TemporaryFolder()
            let file = try key.write(P256.Signing.PrivateKey().pemRepresentation, to: "AuthKey_ABCDE12345.p8")
            let material = try CredentialMaterial(file: file, platform: .ios, teamID: "ABCDE12345")
            try await CredentialWriter(store: site.store, settings: site.settings).save(material, application: wrong)
            _ = try await site.store.createAccount(name: "away", connector: .iosHTTP2, host: "127.0.0.1", port: 1)
            let away = try await site.add("away", account: "away")
            try await CredentialWriter(store: site.store, settings: site.settings).save(material, application: away)

            let refused = try await site.send(to: wrong)
            let unreached = try await site.send(to: away)
            let good = try await site.send(to: site.application)

            #expect(try await progress(site, good).sent == 50)
            try await wait {
                let errors = try await site.store.children().map(\.beat.lastError)
                return errors.contains { $0.contains("InvalidProviderToken") }
                    && errors.contains { $0.contains("127.0.0.1:1") }
            }
            for id in [refused, unreached] {
                let kept = try await progress(site, id) { $0.prepared }
                #expect(kept.pending == 20 && kept.failed == 0)
            }
        }
    }
}
