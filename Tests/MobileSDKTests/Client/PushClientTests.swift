import Foundation
import Testing

@testable import MobileSDK

/// The client with a scripted network and a clock that stands.
@Suite(.timeLimit(.minutes(2))) struct PushClientTests {
    private static let token = Data("pushToken".utf8)

    private let clock = ManualClock()

    private func client(_ transport: ScriptedTransport, _ storage: any PushStorage = MemoryStorage()) -> PushClient {
        let client = PushClient(transport: transport, storage: storage, clock: clock, device: .phone)
        client.setMarketingHost("marketingServer")
        client.setTrackingHost("trackserver")
        client.setIntegrationKey("integrationKey")
        return client
    }

    @Test func theSixOutcomesAsync() async throws {
        let transport = ScriptedTransport(
            .answer(200),
            .answer(404, "Unknown integration key"),
            .answer(400, "Malformed token\n"),
            .offline
        )
        let client = client(transport)
        #expect(await client.registerDevice(token: Self.token, userKey: "1", parameters: ["n": 1]) == .success)
        #expect(await client.registerDevice(token: Self.token, userKey: "2") == .unknownIntegrationKey)
        let refused = await client.registerDevice(token: Self.token, userKey: "3")
        #expect(refused == .unexpectedError(reason: "Malformed token"))
        let lost = await client.registerDevice(token: Self.token, userKey: "4")
        #expect(lost == .connectionIssue(reason: "offline"))
        client.setIntegrationKey(nil)
        #expect(await client.registerDevice(token: Self.token) == .integrationKeyEmpty)
        client.setMarketingHost("")
        #expect(await client.registerDevice(token: Self.token) == .marketingHostEmpty)
        let first = try #require(await transport.requests.first)
        #expect(first.url == "https://marketingServer/nms/mobile/1/registerIOS.jssp")
        #expect(
            first.body
                == RegistrationForm.body(.sample(userKey: "1", ["n": 1]), integrationKey: "integrationKey")
        )
    }

    @Test func theTimeZoneIsSentOnlyIfTheAppSaysSo() async throws {
        let transport = ScriptedTransport(.answer(200), .answer(200))
        let client = client(transport)
        #expect(await client.registerDevice(token: Self.token, userKey: "1") == .success)
        client.setSendsTimeZone(true)
        #expect(await client.registerDevice(token: Self.token, userKey: "1") == .success)
        let bodies = await transport.requests.map(\.body)
        let zone = PercentEncoding.encode(TimeZone.autoupdatingCurrent.identifier)
        #expect(bodies.map { $0?.hasSuffix("&timeZone=\(zone)") == true } == [false, true])
    }

    /// Apps of Adobe's SDKs have the token as text, and a dictionary of anything.
    @Test func aTokenThatIsTextAndParametersOfAnyType() async throws {
        let transport = ScriptedTransport(.answer(200))
        let client = client(transport)
        let parameters: [String: Any] = ["n": 1]
        let outcome = await client.registerDevice(
            tokenString: "<70757368 546F6b65 6E>",
            userKey: "1",
            additionalParameters: parameters
        )
        #expect(outcome == .success)
        // The same, said in the other way.
        #expect(await client.registerDevice(token: Self.token, userKey: "1", parameters: ["n": 1]) == .success)
        let requests = await transport.requests
        #expect(requests.count == 1)
        #expect(
            requests.first?.body
                == RegistrationForm.body(.sample(userKey: "1", ["n": 1]), integrationKey: "integrationKey")
        )
    }

    @Test func theDelegateHearsOfEachCallAndOfTheEnd() async {
        let transport = ScriptedTransport(.offline, .offline, .answer(200))
        let client = client(transport)
        let delegate = RecordingDelegate()
        client.setDelegate(delegate)
        Self.register(client)
        #expect(await delegate.outcomes(atLeast: 1) == [.connectionIssue(reason: "offline")])
        let first = await clock.advance()
        let second = await clock.advance()
        #expect((2.5...5).contains(first) && (5...10).contains(second))
        #expect(await delegate.outcomes(atLeast: 2) == [.connectionIssue(reason: "offline"), .success])
        Self.register(client)
        #expect(await delegate.outcomes(atLeast: 3).last == .success)
        #expect(await transport.requests.count == 3)
    }

    @Test func theDelegateIsNotKeptAlive() async {
        let client = client(ScriptedTransport(.answer(200)))
        var delegate: RecordingDelegate? = RecordingDelegate()
        weak let held = delegate
        client.setDelegate(delegate)
        Self.register(client)
        #expect(await delegate?.outcomes(atLeast: 1) == [.success])
        delegate = nil
        // The call of it ends somewhat later.
        while held != nil { await Task.yield() }
        #expect(await client.registerDevice(token: Self.token, userKey: "other") == .success)
    }

    /// The call for those that have no task, so not the async one.
    private static func register(_ client: PushClient) {
        client.registerDevice(token: token, userKey: "user")
    }

    @Test func whatIsQueuedOutlivesTheClient() async throws {
        let storage = MemoryStorage()
        let offline = client(ScriptedTransport(.offline, .offline), storage)
        let lost = await offline.registerDevice(token: Self.token, userKey: "user")
        #expect(lost == .connectionIssue(reason: "offline"))
        let hit: [AnyHashable: Any] = ["_mId": "55336", "_dId": "deliveryId"]
        #expect(await offline.track(hit, .click) == .queued(reason: "offline"))

        let transport = ScriptedTransport()
        let next = client(transport, storage)
        // Joins what the start began, or finds it done.
        #expect(await next.registerDevice(token: Self.token, userKey: "user") == .success)
        #expect(await next.track(hit, .receive) == .sent)
        let urls = await transport.requests.map(\.url)
        #expect(urls.filter { $0.hasSuffix(RegistrationForm.path) }.count == 1)
        #expect(
            urls.filter { $0.contains("/r/") } == [
                "https://trackserver/r/?id=hd828,deliveryId,2", "https://trackserver/r/?id=hd828,deliveryId,1",
            ]
        )

        let later = ScriptedTransport()
        let third = client(later, storage)
        #expect(await third.registerDevice(token: Self.token, userKey: "user") == .success)
        #expect(await later.requests.isEmpty)
        third.forgetRegistration()
        #expect(await third.registerDevice(token: Self.token, userKey: "user") == .success)
        #expect(await later.requests.count == 1)
    }

    @Test func retryNowDoesNotWaitForTheClock() async {
        let transport = ScriptedTransport(.offline)
        let client = client(transport)
        let delegate = RecordingDelegate()
        client.setDelegate(delegate)
        await client.registerDevice(token: Self.token)
        client.retryNow()
        #expect(await delegate.outcomes(atLeast: 2).last == .success)
    }

    @Test func trackingOutcomes() async {
        let client = client(ScriptedTransport(.answer(404, "unknown")))
        let hit = PushMessage(userInfo: ["_mId": "12345", "_dId": "f0190"])
        #expect(await client.track(hit, .receive) == .refused(reason: "unknown"))
        #expect(await client.track(hit, .receive) == .sent)
        #expect(await client.track(["_mId": "invalid", "_dId": "x"], .click) == .noIDs)
        client.setTrackingHost(nil)
        #expect(await client.track(hit, .click) == .trackingHostEmpty)
    }

    @Test func aConversionIsOfTheLastOpenedNotification() async {
        let storage = MemoryStorage()
        let transport = ScriptedTransport()
        let first = client(transport, storage)
        #expect(await first.recordConversion("early") == .noIDs)
        #expect(await first.track(["_mId": "12345", "_dId": "f0190"], .click) == .sent)
        #expect(await first.track(["_mId": "99", "_dId": "f0191"], .receive) == .sent)
        #expect(await first.recordConversion("buy", value: 12.5) == .sent)
        let second = client(transport, storage)
        #expect(await second.recordConversion() == .sent)
        #expect(
            await transport.requests.map(\.url).suffix(2) == [
                "https://trackserver/r/?id=h3039,f0190,4&name=buy&value=12.5",
                "https://trackserver/r/?id=h3039,f0190,4&name=conversion",
            ]
        )
    }

    /// Damaged files, one of them made to trap Foundation's parser, and a disk that is full.
    @Test(arguments: ["", "{", "[1,2]", "null", String(repeating: "[", count: 513), "{\"pending\":5}", "\u{0}"])
    func damagedFiles(_ text: String) async {
        let names = [ClientCore.registrationName, ClientCore.trackingName, ClientCore.openedName]
        let files = Dictionary(uniqueKeysWithValues: names.map { ($0, Data(text.utf8)) })
        let client = client(ScriptedTransport(), MemoryStorage(files, isFull: true))
        #expect(await client.registerDevice(token: Self.token) == .success)
        #expect(await client.track(["_mId": "12345", "_dId": "f0190"], .click) == .sent)
    }

    /// The client's task ends with it, and lets go of everything.
    @Test func aClientThatIsDroppedLeavesNothingBehind() async {
        await withCheckedContinuation { continuation in
            let storage = EndingStorage { continuation.resume() }
            let client = client(ScriptedTransport(), storage)
            client.registerDevice(token: Self.token)
        }
    }

    @Test func manyCallsAtOnceAreAllAnswered() async {
        let client = client(ScriptedTransport())
        let outcomes = await withTaskGroup(of: RegistrationOutcome.self) { group in
            for index in 0..<200 {
                group.addTask { await client.registerDevice(token: Self.token, userKey: "\(index % 7)") }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 200 && outcomes.allSatisfy { $0 == .success })
    }
}
