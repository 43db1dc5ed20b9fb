import Foundation
import PushCore
import Testing

@testable import GatewaySimulator

/// Every answer of FCM v1, over the wire with curl.
struct FCMAnswerTests {
    private static let good = #"{"message":{"token":"abc:APA91b_x-y","notification":{"title":"t"}}}"#

    @Test func acceptedMessageGetsAName() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            let id = "a1b2c3d4-0000-4000-8000-0123456789ac"
            let body =
                #"{"message":{"token":"t:1","data":{"_mId":"\#(id)","_dId":"17"},"android":{"priority":"HIGH","ttl":"3600s"}}}"#
            let answer = try fixture.send(body, bearer: bearer)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "application/json; charset=UTF-8")
            let project = fixture.simulator.credentials.projectID
            #expect(answer.body.hasPrefix("{\"name\":\"projects/\(project)/messages/0:"))
            #expect(fixture.simulator.occurrences(ofID: id) == 1)
            let again = try fixture.send(body, bearer: bearer)
            #expect(again.body != answer.body)
            #expect(fixture.simulator.occurrences(ofID: id) == 2)
            #expect(fixture.simulator.counters().fcm.duplicates == 1)
        }
    }

    @Test func messagesAreKnownByNumberOrTokenWithoutAUUID() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            _ = try fixture.send(#"{"message":{"token":"t:1","data":{"_mId":"123456"}}}"#, bearer: bearer)
            _ = try fixture.send(#"{"message":{"token":"t:2"}}"#, bearer: bearer)
            #expect(fixture.simulator.occurrences(ofID: "123456") == 1)
            #expect(fixture.simulator.record(ofID: "123456")?.id == "123456")
            #expect(fixture.simulator.occurrences(ofID: "t:2") == 1)
        }
    }

    /// An answer that waits says all that one at once does.
    @Test(arguments: [nil, LatencyDistribution.fixed(milliseconds: 1)])
    func aDryRunLeavesNoRecord(latency: LatencyDistribution?) async throws {
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.latency = latency
            try fixture.simulator.setFaults(plan, for: .fcm)
            let bearer = try await fixture.accessToken()
            let answer = try fixture.send(#"{"validate_only":true,"message":{"token":"t:1"}}"#, bearer: bearer)
            #expect(answer.body.hasSuffix("/messages/fake_message_id\"}"))
            #expect(fixture.simulator.counters().fcm.accepted == 0)
        }
    }

    @Test(arguments: [nil, LatencyDistribution.fixed(milliseconds: 1)])
    func wrongMessagesAreInvalidArguments(latency: LatencyDistribution?) async throws {
        let big = String(repeating: "x", count: 4096)
        let cases: [(body: String, message: String, field: String?)] = [
            (#"{"message":{"data":{"a":"b"}}}"#, "Recipient of the message is not set.", "message"),
            (
                #"{"message":{"token":""}}"#, "The registration token is not a valid FCM registration token",
                "message.token"
            ),
            (
                #"{"message":{"token":"a b"}}"#, "The registration token is not a valid FCM registration token",
                "message.token"
            ),
            (
                #"{"message":{"token":"t","data":{"a":12}}}"#,
                "Invalid value at 'message.data[0].value' (TYPE_STRING), 12", "message.data[0].value"
            ),
            (
                #"{"message":{"token":"t","data":{"a":"b","c":{"d":1}}}}"#,
                "Invalid value at 'message.data[1].value' (TYPE_STRING), {\"d\":1}", "message.data[1].value"
            ),
            (#"{"message":{"token":"t","data":{"from":"x"}}}"#, "Invalid data payload key: from", "message.data"),
            (
                #"{"message":{"token":"t","data":{"message_type":"x"}}}"#, "Invalid data payload key: message_type",
                "message.data"
            ),
            (
                #"{"message":{"token":"t","data":{"google.x":"x"}}}"#, "Invalid data payload key: google.x",
                "message.data"
            ),
            (
                #"{"message":{"token":"t","data":{"gcm.notification.x":"x"}}}"#,
                "Invalid data payload key: gcm.notification.x", "message.data"
            ),
            (#"{"message":{"token":"t","data":{"a":"\#(big)"}}}"#, "Android message is too big", nil),
            (
                #"{"message":{"token":"t","colour":"red"}}"#,
                "Invalid JSON payload received. Unknown name \"colour\" at 'message': Cannot find field.", "message"
            ),
            (
                #"{"message":{"token":"t","topic":"news"}}"#,
                "Invalid value (oneof), oneof field 'message.target' is already set. Cannot set 'topic'", "message"
            ),
            (
                #"{"message":{"token":"t","android":{"priority":"URGENT"}}}"#,
                "Invalid value at 'message.android.priority' (type.googleapis.com/google.firebase.fcm.v1.AndroidMessagePriority), \"URGENT\"",
                "message.android.priority"
            ),
            (
                #"{"message":{"token":"t","android":{"ttl":"2419201s"}}}"#, "TTL value is out of range: 2419201s",
                "message.android.ttl"
            ),
            (
                #"{"validate_only":1,"message":{"token":"t"}}"#, "Invalid value at 'validate_only' (TYPE_BOOL), 1",
                "validate_only"
            ),
            (
                #"{"message":{"token":"t","apns":[]}}"#, "Invalid value at 'message.apns' (an object), []",
                "message.apns"
            ),
            (
                #"{"message":{"token":"t","android":{"notification":{"sticky":"yes"}}}}"#,
                "Invalid value at 'message.android.notification.sticky' (TYPE_BOOL), \"yes\"",
                "message.android.notification.sticky"
            ),
            (
                #"{"message":{"token":"t","android":{"notification":{"ticket":"yes"}}}}"#,
                "Invalid JSON payload received. Unknown name \"ticket\" at 'message.android.notification': Cannot find field.",
                "message.android.notification"
            ),
            (
                #"{"message":{"token":"t","android":{"notification":{"color":"red"}}}}"#, "Invalid color value: red",
                "message.android.notification.color"
            ),
            (
                #"{"message":{"token":"t","android":{"fcm_options":{"analytics_label":"has space !"}}}}"#,
                "Invalid analytics label: has space !", "message.android.fcm_options.analytics_label"
            ),
            (
                #"{"message":{"token":"t","fcm_options":{"analytics_label":"has space !"}}}"#,
                "Invalid analytics label: has space !", "message.fcm_options.analytics_label"
            ),
            (
                #"{"message":{"token":"t","fcmOptions":{"label":"x"}}}"#,
                "Invalid JSON payload received. Unknown name \"label\" at 'message.fcm_options': Cannot find field.",
                "message.fcm_options"
            ),
            (#"{"message":{"token":"t""#, "Invalid JSON payload received. Unexpected token at position 23.", ""),
        ]
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.latency = latency
            try fixture.simulator.setFaults(plan, for: .fcm)
            let bearer = try await fixture.accessToken()
            for (body, message, field) in cases {
                let answer = try fixture.send(body, bearer: bearer)
                #expect(answer.status == 400)
                let error = try Self.error(answer)
                #expect(error.status == "INVALID_ARGUMENT")
                #expect(error.message == message)
                #expect(error.errorCode == "INVALID_ARGUMENT")
                #expect(error.field == field)
            }
            #expect(fixture.simulator.counters().fcm.accepted == 0)
            #expect(fixture.simulator.counters().fcm.rejected == ["INVALID_ARGUMENT": cases.count])
        }
    }

    @Test func pathsAndBearersAreChecked() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            let missing = try fixture.send(Self.good, bearer: nil)
            #expect(missing.status == 401)
            #expect(try Self.error(missing).message.hasPrefix("Request is missing required authentication credential."))
            let wrong = try fixture.send(Self.good, bearer: "ya29.wrong")
            #expect(wrong.status == 401)
            let error = try Self.error(wrong)
            #expect(error.status == "UNAUTHENTICATED")
            #expect(error.errorCode == nil)
            #expect(
                error.message.hasPrefix("Request had invalid authentication credentials. Expected OAuth 2 access token")
            )
            let other = try fixture.send(Self.good, bearer: bearer, path: "/v1/projects/other/messages:send")
            #expect(other.status == 403)
            #expect(
                try Self.error(other).message.hasPrefix(
                    "Permission 'cloudmessaging.messages.create' denied on resource"
                )
            )
            #expect(try fixture.send(Self.good, bearer: bearer, path: "/v1/nowhere").status == 404)
            #expect(try fixture.send(Self.good, bearer: bearer, method: "PUT").status == 404)
            #expect(try fixture.send(Self.good, bearer: bearer).status == 200)
        }
    }

    @Test func expiredBearersAreRefused() async throws {
        let book = AccessTokenBook()
        let token = book.issue(lifetimeSeconds: 10, now: 1000)
        #expect(book.expiry(Array(token.utf8)) == 1010)
        #expect(book.expiry(Array("ya29.other".utf8)) == nil)
        try await Fixture.run(.with { $0.accessTokenLifetimeSeconds = 1 }) { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            while try fixture.send(Self.good, bearer: bearer).status != 401 {}
            #expect(try fixture.send(Self.good, bearer: try await fixture.accessToken()).status == 200)
        }
    }

    @Test func devicesHaveStates() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            let simulator = fixture.simulator
            let body = #"{"message":{"token":"dev:1"}}"#
            let cases: [(DeviceState, Int, String, String, String)] = [
                (
                    .unregistered(sinceMilliseconds: 1), 404, "NOT_FOUND", "UNREGISTERED",
                    "Requested entity was not found."
                ),
                (.deviceTokenNotForTopic, 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", "SenderId mismatch"),
                (
                    .badDeviceToken, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT",
                    "The registration token is not a valid FCM registration token"
                ),
            ]
            for (state, status, name, code, message) in cases {
                simulator.setDevice("dev:1", to: state)
                let answer = try fixture.send(body, bearer: bearer)
                #expect(answer.status == status)
                let error = try Self.error(answer)
                #expect(error.status == name)
                #expect(error.errorCode == code)
                #expect(error.message == message)
            }
            simulator.setDevice("dev:1", to: nil)
            #expect(try fixture.send(body, bearer: bearer).status == 200)
        }
    }

    @Test func everyErrorCanBeMixedIn() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            for reason in FCMReason.allCases {
                var plan = FaultPlan()
                plan.errors = [
                    ErrorRate(reason: reason.rawValue, rate: 1, retryAfter: reason.status == 429 ? "9" : nil)
                ]
                try fixture.simulator.setFaults(plan, for: .fcm)
                let answer = try fixture.send(Self.good, bearer: bearer)
                #expect(answer.status == reason.status)
                #expect(answer.headers["retry-after"] == (reason.status == 429 ? "9" : nil))
                guard let status = reason.rpcStatus else {
                    #expect(answer.headers["content-type"]?.hasPrefix("text/html") == true)
                    continue
                }
                let error = try Self.error(answer)
                #expect(error.status == status)
                #expect(error.errorCode == reason.errorCode)
                #expect(error.message == reason.message(projectID: fixture.simulator.credentials.projectID))
            }
            let quota = FCMRejection(.rateLimitExceeded)
            let text = String(decoding: quota.body(projectID: "p"), as: UTF8.self)
            #expect(text.contains(#""reason":"RATE_LIMIT_EXCEEDED""#))
            #expect(text.contains(#""quota_limit":"SendsPerMinutePerProject""#))
        }
    }

    @Test func aHundredStreamsAtOnceAreAllowed() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            let probe = try await Probe.open(fixture, port: fixture.simulator.fcmPort, streams: 100)
            let ids = Batches.ids(1000)
            probe.submit(Batches.fcm(fixture, bearer: bearer, ids: ids))
            try await probe.resolved(1000)
            #expect(probe.statuses == [200: 1000])
            #expect(fixture.simulator.counters().fcm.highestConcurrentStreams <= 100)
            #expect(ids.allSatisfy { fixture.simulator.occurrences(of: $0) == 1 })
            await probe.close()
        }
    }

    @Test func moreThanAHundredStreamsEndTheConnection() async throws {
        try await Fixture.run { (fixture) async throws in
            let raw = try await RawConnection.open(fixture, port: fixture.simulator.fcmPort)
            let settings = try await raw.frame(type: RawFrame.settings)
            #expect(settings.settings[3] == 100)
            for number in 0..<101 { raw.sendOpenRequest(streamID: UInt32(number * 2 + 1)) }
            let goAway = try await raw.frame(type: RawFrame.goAway)
            #expect(goAway.payload[4..<8] == [0, 0, 0, 1])
            #expect(String(decoding: goAway.payload[8...], as: UTF8.self) == "exceeded_max_concurrent_streams")
            await raw.close()
        }
    }

    private struct ErrorBody {
        var message: String
        var status: String
        var errorCode: String?
        var field: String?
    }

    private static func error(_ answer: Curl.Answer) throws -> ErrorBody {
        let json = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        let error = try #require(json?["error"] as? [String: Any])
        #expect(error["code"] as? Int == answer.status)
        let details = error["details"] as? [[String: Any]] ?? []
        let violations = details.compactMap { $0["fieldViolations"] as? [[String: Any]] }.first
        return ErrorBody(
            message: try #require(error["message"] as? String),
            status: try #require(error["status"] as? String),
            errorCode: details.compactMap { $0["errorCode"] as? String }.first,
            field: violations?.first?["field"] as? String
        )
    }
}
