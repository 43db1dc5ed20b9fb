import Foundation
import NIOPosix
import PushCore
import Synchronization
import Testing

@testable import GatewaySimulator

/// The simulated devices' side towards a web server.
@Suite struct FleetTests {
    /// Requests that a web server has got, and what it answers.
    private final class Server: Sendable {
        private let seen = Mutex<[HTTP1Request]>([])
        private let status = Atomic<Int>(200)

        func answer(_ request: HTTP1Request) -> HTTP1Answer {
            seen.withLock { $0.append(request) }
            return .error(status.load(ordering: .relaxed), "OK")
        }

        func fail(_ code: Int) { status.store(code, ordering: .relaxed) }
        var requests: [HTTP1Request] { seen.withLock { $0 } }
    }

    private static let limit = Duration.seconds(60)

    private static func counters(_ fixture: Fixture, until isReached: (FleetCounters) -> Bool) async throws
        -> FleetCounters
    {
        let deadline = ContinuousClock.now + limit
        var last = fixture.simulator.fleet.counters
        while !isReached(last), ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
            last = fixture.simulator.fleet.counters
        }
        return last
    }

    private static func run(_ body: (Fixture, Server, Int) async throws -> Void) async throws {
        let server = Server()
        let listener = try await HTTP1Listener.start(
            group: MultiThreadedEventLoopGroup.singleton,
            host: "127.0.0.1",
            port: 0,
            tls: nil,
            answer: { server.answer($0) }
        )
        do {
            try await Fixture.run { try await body($0, server, listener.port) }
        } catch {
            await listener.stop()
            throw error
        }
        await listener.stop()
    }

    @Test func devicesRegisterEachWithATokenOfItsOwn() async throws {
        try await Self.run { fixture, server, port in
            #expect(
                try fixture.control("POST", "/fleet/devices", #"{"integration_key":"key","platform":"ios","count":1}"#)
                    .status
                    == 400,
                "there is no web server yet"
            )
            _ = try fixture.control("POST", "/fleet", #"{"host":"127.0.0.1","port":\#(port)}"#)
            for platform in ["ios", "android"] {
                let body = #"{"integration_key":"key-\#(platform)","platform":"\#(platform)","count":200}"#
                #expect(try fixture.control("POST", "/fleet/devices", body).status == 200)
            }
            let end = try await Self.counters(fixture) { $0.registered == 400 }
            #expect(end.registered == 400 && end.failed == 0 && end.waiting == 0)
            let forms = server.requests.map { FormFields.decode($0.body) }
            #expect(Set(forms.compactMap { $0["registrationToken"] }).count == 400)
            #expect(
                Set(server.requests.map(\.path)) == [
                    "/nms/mobile/1/registerIOS.jssp", "/nms/mobile/1/registerAndroid.jssp",
                ]
            )
            let ios = forms.filter { $0["mobileAppUuid"] == "key-ios" }
            #expect(ios.count == 200 && ios.allSatisfy { $0["registrationToken"]?.count == 64 })
            #expect(
                ios.contains {
                    $0["additionalParams"]
                        == #"<additionalParams><param name="firstName" value="Person 7" /></additionalParams>"#
                }
            )
            // A device that registers again is the same device.
            _ = try fixture.control(
                "POST",
                "/fleet/devices",
                #"{"integration_key":"key-ios","platform":"ios","count":9}"#
            )
            _ = try await Self.counters(fixture) { $0.registered == 409 }
            #expect(Set(server.requests.map { FormFields.decode($0.body)["registrationToken"] }).count == 400)
        }
    }

    @Test func pushesAreReportedAsSDKsDo() async throws {
        try await Self.run { fixture, server, port in
            _ = try fixture.control("POST", "/fleet", #"{"host":"127.0.0.1","port":\#(port),"click_every":1}"#)
            let id = "6B6499A8-9D43-4BC5-ACF0-B6AEB96846F6"
            _ = try fixture.push(body: #"{"aps":{"alert":"hello"},"_mId":"\#(id)","_dId":"10"}"#)
            _ = try fixture.push(
                ["apns-push-type": "background", "apns-priority": "5"],
                body: #"{"aps":{"content-available":1},"_mId":"5","_dId":"f0190"}"#
            )
            // A number is no id for Adobe's SDK, and a message that is refused comes to no device.
            _ = try fixture.push(body: #"{"aps":{"alert":"hello"},"_mId":5,"_dId":"10"}"#)
            _ = try fixture.push(path: "/3/device/short", body: #"{"aps":{"alert":"hello"},"_mId":"6","_dId":"10"}"#)
            let end = try await Self.counters(fixture) { $0.received == 2 && $0.clicked == 1 && $0.untracked == 1 }
            #expect(end.received == 2 && end.clicked == 1 && end.untracked == 1 && end.waiting == 0)
            #expect(
                Set(server.requests.compactMap { $0.query["id"] }) == ["h\(id),10,1", "h\(id),10,2", "h05,f0190,1"]
            )
        }
    }

    @Test func anythingButTwoHundredIsFailureAndNotRepeated() async throws {
        try await Self.run { fixture, server, port in
            server.fail(503)
            _ = try fixture.control("POST", "/fleet", #"{"host":"127.0.0.1","port":\#(port)}"#)
            _ = try fixture.control(
                "POST",
                "/fleet/devices",
                #"{"integration_key":"k","platform":"android","count":50}"#
            )
            let end = try await Self.counters(fixture) { $0.failed == 50 }
            #expect(end.failed == 50 && end.registered == 0 && end.waiting == 0)
            #expect(server.requests.count == 50)
        }
    }

    @Test(arguments: [
        "[]", "{", #"{"host":"","port":1}"#, #"{"host":"a","port":0}"#, #"{"host":"a","port":65536}"#,
        #"{"host":"a","port":1,"click_every":-1}"#, #"{"host":"a","port":1,"other":1}"#,
    ])
    func aServerThatIsNoneIsRefused(_ body: String) async throws {
        try await Fixture.run { (fixture) async throws in
            #expect(try fixture.control("POST", "/fleet", body).status == 400)
        }
    }

    @Test(arguments: [
        ##"{"message":{"data":{"_mId":"12345","_dId":"7","title":"a"}}}"##: ("3039", true),
        ##"{"message":{"android":{"data":{"_mId":"12345","_dId":"7"}}}}"##: ("3039", false),
        ##"{"message":{"notification":{"title":"a"},"data":{"_mId":"-673096100","_dId":"7"}}}"##: ("d7e15e5c", true),
    ])
    func messagesOfFCMAreRead(_ body: String, _ expected: (id: String, isVisible: Bool)) throws {
        let message = try #require(FleetMessage(Array(body.utf8)))
        #expect(message.messageID == expected.id && message.deliveryID == "7")
        #expect(message.isVisible == expected.isVisible)
        #expect(message.data["_mId"]?.isEmpty == false && message.data["_dId"] == "7")
    }

    @Test func whatHasNoIdsIsNotTracked() {
        for body in [
            "", "[", String(repeating: "[", count: 600), "{}", #"{"_mId":"a","_dId":"1"}"#, #"{"_mId":"1"}"#,
            #"{"_mId":"1","_dId":""}"#, #"{"message":{"data":{"_mId":1,"_dId":"1"}}}"#,
        ] {
            #expect(FleetMessage(Array(body.utf8)) == nil, "\(body)")
        }
    }
}
