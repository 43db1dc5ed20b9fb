import Foundation
import LaboratoryStore
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Deliveries over APNs' binary protocol: simulator, child, database.
@Suite(.serialized) struct BinaryDeliveryTests {
    private static let application = "binary-app"

    /// Adds an application that sends over the binary gateway, as an operator does.
    private func add(_ site: DeliverySite, subscribers: Int64) async throws -> [String] {
        // A supervisor that looked after the application was added and before its credential would replace its new
        // child.
        _ = try await site.testSite.supervisor.stop()
        let gateway = try #require(site.simulator.apnsBinary)
        let feedback = try #require(site.simulator.apnsFeedback)
        let added = try await site.run(
            "account",
            "add",
            "binary",
            "--connector",
            "ios-binary",
            "--host",
            gateway.host,
            "--port",
            String(gateway.port),
            "--ca-file",
            site.simulator.ca,
            "--feedback-port",
            String(feedback.port)
        )
        #expect(added.output.contains("\(gateway.host):\(gateway.port)"))
        let apns = site.simulator.credentials.apns
        _ = try await site.store.createApplication(
            NewApplication(
                service: site.audience.prefix,
                name: Self.application,
                platform: .ios,
                integrationKey: Self.application,
                bundleID: apns.topics[0],
                account: "binary"
            )
        )
        let file = try #require(apns.certificateFile)
        let passphrase = try #require(apns.certificatePassphrase)
        let material = try CredentialMaterial(file: file, platform: .ios) { passphrase }
        try await CredentialWriter(store: site.store, settings: site.settings).save(
            material,
            application: Self.application
        )
        try await site.store.seedSubscriptions(application: Self.application, count: subscribers)
        try await site.testSite.startSupervisor()
        return try await site.store.subscriptions(application: Self.application, limit: 100).map(\.pushToken)
    }

    /// Far longer than a slow machine takes for a large delivery.
    private static let limit = Duration.seconds(300)

    @Test func twentyThousandThroughAnErrorPacketEveryThousand() async throws {
        try await DeliverySite.with(subscribers: 1, children: 1, poolPeriod: 1) { site in
            _ = try await add(site, subscribers: 20_000)
            let control = SimulatorControl(site.simulator)
            try await control.post("/faults", #"{"gateway":"apns-binary","error_packets":{"every":1000,"status":8}}"#)
            let started = ContinuousClock.now
            let id = try await site.send(to: Self.application)
            let end = try await site.progress(id, within: Self.limit)
            print("20,000 messages in \(started.duration(to: .now))")
            #expect(end.state == .finished)
            #expect(end.sent == 19_980 && end.failed == 20 && end.unknown == 0 && end.pending == 0)
            let counters = try await control.counters().apnsBinary
            #expect(counters.uniqueAccepted == 19_980, "none is lost")
            #expect(counters.duplicates == 0 && counters.accepted == 19_980, "none comes twice")
            let failures = try await site.store.outcomeCounts(delivery: id).filter { $0.status == .failed }
            #expect(failures.map(\.reason) == ["InvalidToken"] && failures.map(\.count) == [20])
            // None of these tokens ever worked while others did. A mix-up could cause the error too, so it is a soft
            // error.
            try await site.wait {
                let events = try await site.store.tokenEventCounts(delivery: id)
                return events.map(\.kind) == [.softError] && events.allSatisfy { $0.pending == 0 && $0.applied == 20 }
            }
        }
    }

    @Test func sixThousandInSilenceAndAGatewayThatDies() async throws {
        try await DeliverySite.with(subscribers: 1, children: 1, poolPeriod: 1) { site in
            _ = try await add(site, subscribers: 6_000)
            let id = try await site.send(to: Self.application)
            // More than another connector's window (4,000): messages stay open for the 5 s of silence.
            try await site.wait {
                try await site.store.children().contains { $0.report.connections.streamsInFlight > 4_000 }
            }
            let end = try await site.progress(id, within: Self.limit)
            #expect(end.state == .finished && end.sent == 6_000 && end.failed == 0 && end.unknown == 0)
            let outcomes = try await site.store.outcomeRows(delivery: id)
            #expect(outcomes.count { $0.status == .sent && $0.reason == "Silence" } == 6_000)
            // The gateway disconnects without an error packet: the operator sees how many messages were accepted only
            // by silence.
            try await SimulatorControl(site.simulator).post("/disconnect", #"{"gateway":"apns-binary"}"#)
            var said: Set<String> = []
            do {
                try await site.wait("the child's word of 6,000 messages") {
                    let texts = try await site.store.children().map(\.report.lastError)
                    said.formUnion(texts)
                    return texts.contains(where: Self.tellsOfSixThousand)
                }
            } catch {
                Issue.record("children said \(said.sorted())")
                throw error
            }
            try await site.wait("the application's word of 6,000 messages") {
                try await site.store.applicationHealth().contains {
                    $0.state == .closed && Self.tellsOfSixThousand($0.reason)
                        && $0.remedy.contains("presumedAcceptedMs")
                }
            }
            // The next delivery is still sent.
            #expect(try await site.progress(try await site.send(to: Self.application)).sent == 6_000)
        }
    }

    /// If loading takes longer than the silence lasts, a second connection has sent some messages, and its end reports
    /// the sum.
    private static func tellsOfSixThousand(_ text: String) -> Bool {
        text.contains("6000 messages") || text.contains("(6000 with those of connections before it)")
    }

    @Test func feedbackDisablesTokensThatTheGatewaySaysNothingOf() async throws {
        try await DeliverySite.with(subscribers: 1, children: 1, poolPeriod: 1) { site in
            let tokens = try await add(site, subscribers: 30)
            let gone = Array(tokens.prefix(4))
            let list = gone.map { "\"\($0)\"" }.joined(separator: ",")
            let since = Int64(Date().timeIntervalSince1970 * 1_000) + 60_000
            try await SimulatorControl(site.simulator).post(
                "/feedback",
                #"{"tokens":[\#(list)],"topic":"\#(site.simulator.credentials.apns.topics[0])","since":\#(since)}"#
            )
            // The gateway accepts these tokens like any other, and no child reads the feedback service.
            let before = try await site.progress(try await site.send(to: Self.application))
            #expect(before.state == .finished && before.failed == 0 && before.sent == 30)
            #expect(try await site.store.feedbackServices().isEmpty)
            try await site.testSite.startFeedback()
            try await site.wait {
                let rows = try await site.store.subscriptions(application: Self.application)
                return Set(rows.filter { !$0.enabled }.map(\.pushToken)) == Set(gone)
            }
            let doctor = try await Program.pushmta().run(["doctor", "--config", site.testSite.settingsFile])
            #expect(doctor.output.contains("it has returned 4 tokens in total"), "\(doctor.output)")
            let after = try await site.progress(try await site.send(to: Self.application))
            #expect(after.state == .finished && after.failed == 0 && after.sent == 26)
        }
    }

    @Test func theGatewayEndsConnectionsAndRefusesCertificates() async throws {
        try await DeliverySite.with(subscribers: 1, children: 1) { site in
            _ = try await add(site, subscribers: 3_000)
            let control = SimulatorControl(site.simulator)
            try await control.post(
                "/faults",
                #"{"gateway":"apns-binary","goaway":{"after_streams":700,"unprocessed":100}}"#
            )
            let shut = try await site.progress(try await site.send(to: Self.application))
            #expect(shut.sent == 3_000 && shut.failed == 0)
            #expect(try await control.counters().apnsBinary.duplicates == 0)
            // A certificate that is no longer accepted keeps the messages pending and is reported.
            try await control.post("/faults", #"{"gateway":"apns-binary"}"#)
            try await control.post("/credentials", #"{"gateway":"apns-binary","revoked":true}"#)
            let stopped = try await site.send(to: Self.application)
            try await site.wait {
                try await site.store.applicationHealth().contains {
                    $0.state != .closed && $0.reason.contains("certificate")
                }
            }
            #expect(try await site.store.deliveryProgress(stopped).sent == 0)
            try await control.post("/credentials", #"{"gateway":"apns-binary","revoked":false}"#)
            try await site.run("app", "resume", Self.application)
            #expect(try await site.progress(stopped).sent == 3_000)
            #expect(try await control.counters().apnsBinary.duplicates == 0)
        }
    }

    @Test func whatTheProtocolCannotCarryIsRefusedWithTheReason() async throws {
        try await DeliverySite.with(subscribers: 1, children: 1) { site in
            _ = try await add(site, subscribers: 3)
            let long = try await site.progress(
                try await site.send(
                    #"{"ios":{"title":"\#(String(repeating: "x", count: 2_100))"}}"#,
                    to: Self.application
                )
            )
            #expect(long.state == .editing && long.stateReason.contains("2048"), "\(long.stateReason)")
            let values = try await site.send(
                #"{"ios":{"title":"{{nickname|\#(String(repeating: "x", count: 2_100))}}"}}"#,
                to: Self.application
            )
            let tried = try await site.progress(values)
            #expect(tried.state == .editing && tried.stateReason.contains("3 of 3"), "\(tried.stateReason)")
        }
    }
}
