import Foundation
import Gateways
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// A cluster, a simulator and a supervisor, with the applications that the answers of one gateway need.
struct AnswerSite: Sendable {
    /// Far longer than anything takes, as the machine may be busy.
    private static let limit = Duration.seconds(120)

    let testSite: TestSite
    let store: Store
    let settings: Settings
    let simulator: SimulatorReport
    let database: PostgresConnection
    let control: SimulatorControl

    static func with(_ body: (AnswerSite) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let beside = URL(fileURLWithPath: try Program.pushmta().path).deletingLastPathComponent().path
        let testSite = try TestSite(folder: folder.path + "/site", programs: beside)
        do {
            try await testSite.prepare()
            var settings = try testSite.writeSettings(children: 12)
            settings.mta.child.requestTimeoutSec = 3
            // Each answer that affects an application needs its own child.
            settings.mta.child.idleChildTimeoutSec = 2
            // A supervisor without work applies token events at its next look.
            settings.mta.master.dataBasePoolPeriodSec = 1
            try testSite.host.write(settings)
            _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
            let simulator = try await testSite.startSimulator()
            try await testSite.startSupervisor()
            let database = try await PostgresConnection.connect(StoreSession.configuration(settings, role: "test"))
            try await StoreSession.run(settings, role: "test") { store in
                _ = try await store.createService(name: "answers", label: "Answers")
                let site = AnswerSite(
                    testSite: testSite,
                    store: store,
                    settings: settings,
                    simulator: simulator,
                    database: database,
                    control: SimulatorControl(simulator)
                )
                for gateway in AnswerGateway.allCases { try await site.createAccount(gateway) }
                try await body(site)
            }
            await database.close()
        } catch {
            try? await testSite.stop()
            try? testSite.remove()
            throw error
        }
        try await testSite.stop()
        try testSite.remove()
    }

    private func createAccount(_ gateway: AnswerGateway) async throws {
        let (connector, address): (Connector, SimulatorReport.Address?) =
            switch gateway {
            case .apnsHTTP2: (.iosHTTP2, simulator.apns)
            case .apnsBinary: (.iosBinary, simulator.apnsBinary)
            case .fcmV1: (.androidV2, simulator.fcm)
            case .fcmLegacy: (.androidV2, simulator.fcmLegacy)
            default: (.androidV2, nil)
            }
        let known = try #require(address)
        _ = try await store.createAccount(
            name: gateway.rawValue,
            connector: connector,
            host: known.host,
            port: known.port,
            options: Cell.object([("ca_file", .text(simulator.ca))]).json
        )
    }

    /// An application with its credential.
    func application(_ name: String, _ gateway: AnswerGateway) async throws -> ApplicationRow {
        let isAPNs = gateway == .apnsHTTP2 || gateway == .apnsBinary
        _ = try await store.createApplication(
            NewApplication(
                service: "answers",
                name: name,
                platform: isAPNs ? .ios : .android,
                integrationKey: name,
                bundleID: simulator.credentials.apns.topics[0],
                account: gateway.rawValue
            )
        )
        try await CredentialWriter(store: store, settings: settings).save(try material(gateway), application: name)
        return try await store.application(named: name)
    }

    private func material(_ gateway: AnswerGateway) throws -> CredentialMaterial {
        let (apns, fcm) = (simulator.credentials.apns, simulator.credentials.fcm)
        switch gateway {
        case .apnsHTTP2:
            return try CredentialMaterial(file: apns.keyFile, platform: .ios, keyID: apns.keyId, teamID: apns.teamId)
        case .apnsBinary:
            return try CredentialMaterial(file: try #require(apns.certificateFile), platform: .ios) {
                apns.certificatePassphrase ?? ""
            }
        case .fcmV1: return try CredentialMaterial(file: fcm.serviceAccountFile, platform: .android)
        case .fcmLegacy:
            let file = try #require(simulator.credentials.fcmLegacy?.projectKeyFile)
            return try CredentialMaterial(file: file, platform: .android)
        default: throw TestSupportError("the simulator has no credential for \(gateway.rawValue)")
        }
    }

    /// A subscription of an application, with a unique token.
    @discardableResult
    func subscribe(_ application: ApplicationRow, _ number: Int, nickname: String? = nil) async throws
        -> (id: Int64, token: String)
    {
        let digits = String(number, radix: 16) + "." + String(application.id, radix: 16)
        let hexadecimal = digits.replacing(".", with: "0e0")
        let token =
            application.platform == .ios
            ? String(repeating: "a", count: 64 - hexadecimal.count) + hexadecimal
            : "row-\(number):APA91b-\(application.id)"
        let result = try await database.execute(
            PostgresStatement(
                """
                INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, registered_at, recipient)
                VALUES ($1, $2, $2, now() - interval '1 hour', jsonb_strip_nulls(jsonb_build_object('nickname', $3::text))) RETURNING id
                """,
                [.int32(application.id), .text(token), .textOrNull(nickname)],
                prepare: false
            )
        )
        return (try result.int64(0, 0), token)
    }

    /// Tells the simulator about a device; nil makes it a device without faults.
    func tell(_ token: String, _ device: String?) async throws {
        try await control.post("/devices", #"{"tokens":["\#(token)"]\#(device.map { "," + $0 } ?? "")}"#)
    }

    /// Starts a delivery with this many retries, which records ambiguous messages as unknown.
    func send(
        _ application: String,
        retries: Int32 = 0,
        content: String = #"{"ios":{"title":"Hello"},"android":{"title":"Hello"}}"#
    ) async throws -> Int64 {
        let id = try await store.createDelivery(
            NewDelivery(
                label: application,
                applications: [application],
                content: content,
                ambiguityPolicy: .report,
                maxRetries: retries,
                retryPeriodSeconds: 1
            )
        )
        try await store.startDelivery(id)
        return id
    }

    /// Waits until a condition holds; on timeout the error names the condition.
    func wait(_ label: String, _ condition: () async throws -> Bool) async throws {
        try await eventually(label, within: Self.limit, condition)
    }

    /// The health of an application.
    func health(_ application: ApplicationRow) async throws -> ApplicationHealthRow? {
        try await store.applicationHealth().first { $0.applicationID == application.id }
    }
}
