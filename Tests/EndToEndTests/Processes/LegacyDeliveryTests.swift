import Foundation
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Deliveries over FCM's legacy protocol: simulator, child, database.
@Suite(.serialized) struct LegacyDeliveryTests {
    private static let application = "legacy-app"
    /// The same text for all, without message ids, so that messages share requests.
    private static let shared = #"{"android":{"title":"Hello","body":"The weather is fine."},"tracking":false}"#
    /// Each message has its own `_mId`.
    private static let tracked = #"{"android":{"title":"Hello {{firstName|there}}","body":"The weather is fine."}}"#

    /// Far longer than a slow machine takes for a large delivery.
    private static let limit = Duration.seconds(300)

    /// Adds an application that sends with a project key, as an operator does.
    private func add(_ site: DeliverySite, _ connector: Connector, subscribers: Int64) async throws {
        let gateway = try #require(site.simulator.fcmLegacy)
        let key = try #require(site.simulator.credentials.fcmLegacy?.projectKeyFile)
        let account = [
            "account", "add", "legacy", "--connector", connector.rawValue, "--host", gateway.host, "--port",
            String(gateway.port), "--ca-file", site.simulator.ca,
        ]
        try await run(site, account)
        _ = try await site.store.createApplication(
            NewApplication(
                service: site.audience.prefix,
                name: Self.application,
                platform: .android,
                integrationKey: Self.application,
                bundleID: "com.example.app",
                account: "legacy"
            )
        )
        try await run(site, ["credential", "set", Self.application, "--key", key])
        try await site.store.seedSubscriptions(application: Self.application, count: subscribers)
    }

    private func run(_ site: DeliverySite, _ words: [String]) async throws {
        let ending = try await Program.pushmta().run(words + ["--config", site.testSite.settingsFile])
        #expect(ending.status == 0, "\(words): \(ending.output) \(ending.errors)")
    }

    private func send(_ site: DeliverySite, _ content: String, _ policy: AmbiguityPolicy = .resend) async throws
        -> Int64
    {
        let id = try await site.store.createDelivery(
            NewDelivery(
                label: "legacy",
                applications: [Self.application],
                content: content,
                ambiguityPolicy: policy,
                // Retries need not wait for a minute.
                retryPeriodSeconds: 1
            )
        )
        try await site.store.startDelivery(id)
        return id
    }

    /// The number of messages that share requests, 1,000 in each.
    private static let sharing: Int64 = 20_000
    /// The number of messages that each have their own request, which costs as much as a shared request of a thousand.
    /// `PUSHMTA_FUZZ_CASES=20000` uses as many as of the shared ones.
    private static let alone = min(
        sharing,
        ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int64.init) ?? 5_000
    )

    @Test(arguments: [Connector.androidV1, .androidV2])
    func twentyThousand(_ connector: Connector) async throws {
        try await DeliverySite.with(subscribers: 1, children: 1) { site in
            try await add(site, connector, subscribers: Self.alone)
            let control = SimulatorControl(site.simulator)
            var requests: [Int64] = []
            for (content, messages) in [(Self.tracked, Self.alone), (Self.shared, Self.sharing)] {
                if content == Self.shared {
                    try await site.store.seedSubscriptions(application: Self.application, count: messages - Self.alone)
                }
                let before = try await control.counters().fcmLegacy.requests ?? 0
                let started = ContinuousClock.now
                let end = try await site.progress(try await send(site, content), within: Self.limit)
                #expect(end.state == .finished)
                #expect(end.sent == messages && end.failed == 0 && end.unknown == 0 && end.pending == 0)
                requests.append((try await control.counters().fcmLegacy.requests ?? 0) - before)
                print("\(connector.rawValue): \(requests.last ?? 0) requests, \(started.duration(to: .now))")
            }
            let counters = try await control.counters().fcmLegacy
            let all = Self.alone + Self.sharing
            #expect(counters.uniqueAccepted == all, "none is lost")
            #expect(counters.duplicates == 0 && counters.accepted == all, "none comes twice")
            #expect(requests.first == Self.alone, "messages with ids of their own go one by one")
            #expect(requests.last.map { $0 < Self.sharing / 10 } == true, "messages without share requests")
        }
    }

    @Test func deadAndMovedDevicesAndErrorsOnTheWay() async throws {
        try await DeliverySite.with(subscribers: 1, children: 1, poolPeriod: 1) { site in
            try await add(site, .androidV2, subscribers: 2_000)
            let tokens = try await site.store.subscriptions(application: Self.application, limit: 10).map(\.pushToken)
            let control = SimulatorControl(site.simulator)
            try await control.post("/devices", #"{"tokens":["\#(tokens[0])"],"state":"NotRegistered"}"#)
            try await control.post("/devices", #"{"tokens":["\#(tokens[1])"],"state":"Replaced","by":"moved:token-1"}"#)
            try await control.post(
                "/faults",
                #"{"gateway":"fcm-legacy","errors":[{"reason":"Unavailable","rate":0.05,"retry_after":"1"}]}"#
            )
            let end = try await site.progress(try await send(site, Self.shared), within: Self.limit)
            #expect(end.sent == 1_999 && end.failed == 1 && end.pending == 0)
            let counters = try await control.counters().fcmLegacy
            #expect(counters.uniqueAccepted == 1_999 && counters.duplicates == 0)
            // The supervisor applies the token events.
            try await site.wait {
                let rows = try await site.store.subscriptions(application: Self.application, limit: 3_000)
                return rows.contains { $0.pushToken == "moved:token-1" && $0.enabled }
                    && !rows.contains { $0.pushToken == tokens[1] && $0.enabled }
                    && rows.contains { $0.pushToken == tokens[0] && !$0.enabled }
            }
        }
    }

    @Test func connectionsThatBreakLeaveNothingSentTwice() async throws {
        try await DeliverySite.with(subscribers: 1, children: 1) { site in
            try await add(site, .androidV2, subscribers: 3_000)
            let control = SimulatorControl(site.simulator)
            try await control.post(
                "/faults",
                #"{"gateway":"fcm-legacy","reset_after_streams":40,"unanswered_accepted_share":0.5,"seed":7}"#
            )
            let end = try await site.progress(try await send(site, Self.tracked, .report), within: Self.limit)
            let counters = try await control.counters().fcmLegacy
            #expect(end.sent + end.unknown == 3_000 && end.failed == 0 && end.pending == 0)
            #expect(end.unknown > 0)
            #expect(counters.duplicates == 0)
            // Messages recorded as sent have arrived; some of the unknown ones have too.
            #expect(counters.uniqueAccepted >= end.sent)
        }
    }

    @Test func whatGoogleAnswersTodayStopsTheApplicationAndFailsNothing() async throws {
        try await DeliverySite.with(subscribers: 1, children: 1) { site in
            try await add(site, .androidV1, subscribers: 200)
            let control = SimulatorControl(site.simulator)
            try await control.post(
                "/faults",
                #"{"gateway":"fcm-legacy","errors":[{"reason":"DeprecatedApi","rate":1}]}"#
            )
            let id = try await send(site, Self.shared)
            try await site.wait {
                try await site.store.applicationHealth().contains {
                    $0.state != .closed && $0.reason.contains("service account")
                }
            }
            let stopped = try await site.store.deliveryProgress(id)
            #expect(stopped.sent == 0 && stopped.failed == 0)
            try await control.post("/faults", #"{"gateway":"fcm-legacy"}"#)
            try await run(site, ["app", "resume", Self.application])
            #expect(try await site.progress(id, within: Self.limit).sent == 200)
        }
    }
}
