import Foundation
import Gateways
import Logging
import ProcessProtocol
import PushCore
import TestSupport
import Testing

@testable import MTAChild
@testable import Store

/// A gateway of another vendor needs only a folder, its answer rows and a line in a registry. The child that sends
/// through it is the product's, from the claim to the last outcome.
@Suite("A gateway of another vendor", .timeLimit(.minutes(3)))
struct LineGatewayTests {
    /// The product's registry with one more line.
    private static let registry = GatewayRegistry([LineKind() as any GatewayKind] + GatewayRegistry.standard.kinds)

    /// An application with a delivery that is ready to be sent over a line.
    private struct Site {
        let store: Store
        let settings: Settings
        let folder: URL
        let application: ApplicationRow
        let account: AccountRow
        let delivery: Int64
        let tokens: [String]

        static func make(port: Int, messages: Int) async throws -> Site {
            let database = try await TestDatabase.create(.migrated)
            let store = try await Store.connect(database.configuration())
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("line-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let keyFile = folder.appendingPathComponent("key")
            let key = CredentialCipher.newKeyText()
            try Data(key.utf8).write(to: keyFile)
            var settings = Settings()
            settings.database.url = database.connectionString
            settings.credentialKeyFile = keyFile.path
            // The child shares its process with other tests, whose memory must not have it replaced.
            settings.mta.child.maxWorkingSetMb = 100_000
            try await store.createService(name: "shop", label: "Shop")
            try await store.createAccount(
                name: "line",
                connector: .androidV1,
                host: "127.0.0.1",
                port: Int32(clamping: port)
            )
            try await store.createApplication(
                NewApplication(
                    service: "shop",
                    name: "shop",
                    platform: .android,
                    integrationKey: "key",
                    bundleID: "com.shop",
                    account: "line"
                )
            )
            let cipher = try CredentialCipher(keyText: key)
            let id = try await store.nextCredentialID()
            try await store.saveCredential(
                CredentialRow(
                    id: id,
                    kind: .fcmProjectKey,
                    name: "shop",
                    sealKeyID: cipher.keyID,
                    sealed: try cipher.seal(Array("sesame".utf8), credentialID: id),
                    attributes: "{}",
                    fingerprint: "00",
                    expiresAt: nil
                ),
                application: "shop"
            )
            try await store.seedSubscriptions(application: "shop", count: Int64(messages))
            let delivery = try await store.createDelivery(
                NewDelivery(
                    label: "test",
                    applications: ["shop"],
                    content: #"{"android":{"title":"Hello"}}"#,
                    ambiguityPolicy: .resend
                )
            )
            try await store.startDelivery(delivery)
            let job = try #require(try await store.claimDeliveriesToPrepare(host: UUID().uuidString).first)
            while try await !store.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
            let application = try await store.application(named: "shop")
            return Site(
                store: store,
                settings: settings,
                folder: folder,
                application: application,
                account: try await store.account(try #require(application.accountID)),
                delivery: delivery,
                tokens: try await store.subscriptions(application: "shop").map(\.pushToken)
            )
        }

        var progress: DeliveryProgress {
            get async throws { try await store.deliveryProgress(delivery) }
        }

        func remove() async {
            await store.close()
            try? FileManager.default.removeItem(at: folder)
        }
    }

    /// Runs a child in this process, and drains it at the end.
    private func withChild(_ site: Site, _ body: () async throws -> Void) async throws {
        let child = MTAChild(
            arguments: ChildArguments(
                childID: 1,
                hostID: UUID().uuidString,
                generation: 1,
                applicationID: site.application.id,
                accountID: site.account.id,
                connector: site.account.connector,
                journalFile: site.folder.appendingPathComponent("child.journal").path
            ),
            settings: site.settings,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            registry: Self.registry
        )
        let (commands, supervisor) = AsyncStream.makeStream(of: CommandReader.Input.self)
        let conversation = ChildConversation(commands: commands, output: ChildOutput(FileHandle.nullDevice))
        let end = Task { await child.run(conversation) }
        do {
            try await body()
        } catch {
            child.fastShutdown()
            _ = await end.value
            throw error
        }
        child.drain()
        let reason = await end.value
        #expect(reason == .drained)
        supervisor.finish()
    }

    @Test("Its answers become outcomes by its rows, each message is sent once, and the child ends with nothing open")
    func sends() async throws {
        let server = try await LineServer.start()
        let site = try await Site.make(port: server.port, messages: 6)
        server.refuse([site.tokens[1]: "410 Gone", site.tokens[4]: "413 TooLong"])
        try await withChild(site) {
            try await eventually("all messages have outcomes") { try await site.progress.pending == 0 }
        }
        let progress = try await site.progress
        #expect(progress.sent == 4 && progress.failed == 2 && progress.partsClaimed == 0)
        #expect(server.messages.count == 6 && server.messages.values.allSatisfy { $0 == 1 })
        #expect(server.keys == ["sesame"])
        #expect(!FileManager.default.fileExists(atPath: site.folder.appendingPathComponent("child.journal").path))
        await site.remove()
        try await server.stop()
    }

    @Test("While it is down its application is in trouble, and waiting messages are sent when it recovers")
    func isAway() async throws {
        let closed = try await LineServer.start()
        try await closed.stop()
        let site = try await Site.make(port: closed.port, messages: 5)
        var server: LineServer?
        try await withChild(site) {
            try await eventually("trouble is known to all hosts") {
                let state = try await site.store.sendingState(
                    application: site.application.id,
                    account: site.account.id,
                    deliveries: []
                )
                return state.trouble != nil
            }
            server = try await LineServer.start(port: closed.port)
            try await eventually("all messages were sent") { try await site.progress.sent == 5 }
        }
        let back = try #require(server)
        #expect(back.messages.values.allSatisfy { $0 == 1 } && back.messages.count == 5)
        await site.remove()
        try await back.stop()
    }

    @Test("`app test` tests it, with texts of the gateway's kind")
    func isTried() async throws {
        let server = try await LineServer.start(refusals: ["nobody": "410 Gone"])
        let site = try await Site.make(port: server.port, messages: 1)
        let probe = GatewayProbe(settings: site.settings, store: site.store, registry: Self.registry)
        let taken = try await probe.run(site.application, site.account, token: "device", alert: nil)
        #expect(taken.map(\.step) == ["credential", "connection", "message"])
        #expect(taken.allSatisfy { $0.result == .ok } && taken.last?.text == "the line took it")
        let refused = try await probe.run(site.application, site.account, token: nil, alert: nil)
        #expect(refused.last?.result == .ok && refused.last?.text.contains("410 Gone") == true)
        await site.remove()
        try await server.stop()
    }

    @Test("A registry makes the first kind that serves a connector and a credential")
    func firstKindCounts() throws {
        let registry = Self.registry
        #expect(registry.kind(of: .androidV1, with: .fcmProjectKey) is LineKind)
        #expect(registry.kind(of: .androidV1, with: .fcmServiceAccount) is FCMv1Kind)
        #expect(registry.kind(of: .androidV1, with: .apnsKey) == nil)
        let shown = ShownMessage(
            address: "127.0.0.1:1",
            token: "t",
            bundleID: "",
            attributes: MessageAttributes(),
            messageID: MessageUUID(high: 1, low: 2),
            collapseID: nil,
            projectID: nil,
            now: 0
        )
        let kind = try #require(registry.kind(of: .androidV1, with: .fcmProjectKey))
        #expect(kind.fields(shown) == [ShownField("line", "127.0.0.1:1"), ShownField("to", "t")])
    }
}
