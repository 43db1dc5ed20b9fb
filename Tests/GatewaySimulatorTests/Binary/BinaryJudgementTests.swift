import Testing

@testable import GatewaySimulator

/// Every status of the binary gateway for its cause.
struct BinaryJudgementTests {
    private let token = [UInt8](repeating: 0xAB, count: 32)
    private let payload = Array(#"{"aps":{"alert":"a"},"_mId":"a1b2c3d4-0000-4000-8000-0123456789ac"}"#.utf8)

    private func judge(
        _ command: UInt8 = 2,
        token: [UInt8]?,
        payload: [UInt8]?,
        priority: UInt8? = nil,
        topics: [String] = ["com.example.app"],
        _ change: (inout GatewayConditions) -> Void = { _ in }
    ) -> BinaryJudgement {
        var conditions = GatewayConditions()
        change(&conditions)
        let notification = BinaryNotification(
            command: command,
            identifier: 5,
            token: token,
            payload: payload,
            priority: priority
        )
        return BinaryJudgement(notification, topics: topics, conditions: conditions)
    }

    @Test func eachStatusHasItsCause() {
        #expect(judge(token: token, payload: payload).status == nil)
        #expect(judge(token: nil, payload: payload).status == .missingDeviceToken)
        #expect(judge(token: [], payload: payload).status == .missingDeviceToken)
        #expect(judge(token: token, payload: payload, topics: []).status == .missingTopic)
        #expect(
            judge(token: token, payload: payload, topics: [String(repeating: "a", count: 156)]).status
                == .invalidTopicSize
        )
        #expect(judge(token: token, payload: nil).status == .missingPayload)
        #expect(judge(token: token, payload: []).status == .missingPayload)
        #expect(judge(token: token, payload: Array("no JSON".utf8)).status == .missingPayload)
        #expect(judge(token: [UInt8](repeating: 1, count: 100), payload: payload).status == nil)
        #expect(judge(token: [UInt8](repeating: 1, count: 101), payload: payload).status == .invalidTokenSize)
        #expect(judge(1, token: [1], payload: payload).status == .invalidTokenSize)
        #expect(judge(token: token, payload: padded(2_048)).status == nil)
        #expect(judge(token: token, payload: padded(2_049)).status == .invalidPayloadSize)
        #expect(judge(0, token: token, payload: padded(256)).status == nil)
        #expect(judge(0, token: token, payload: padded(257)).status == .invalidPayloadSize)
        let silent = Array(#"{"aps":{"content-available":1}}"#.utf8)
        #expect(judge(token: token, payload: silent, priority: 10).status == .protocolError)
        #expect(judge(token: token, payload: silent, priority: 5).status == nil)
    }

    private func padded(_ size: Int) -> [UInt8] {
        let frame = #"{"a":""}"#
        return Array(#"{"a":""#.utf8) + [UInt8](repeating: 0x78, count: size - frame.utf8.count) + Array(#""}"#.utf8)
    }

    @Test func devicesAreKnownByTheirTokens() throws {
        let key = try #require(APNsDeviceToken.key(of: String(repeating: "AB", count: 32)))
        #expect(judge(token: token, payload: payload) { $0.devices[key] = .badDeviceToken }.status == .invalidToken)
        #expect(
            judge(token: token, payload: payload) { $0.devices[key] = .deviceTokenNotForTopic }.status == .invalidToken
        )
        let gone = judge(token: token, payload: payload) { $0.devices[key] = .unregistered(sinceMilliseconds: 7) }
        #expect(gone.status == nil && gone.goneSince == 7, "the gateway says nothing, the feedback service does")
        #expect(judge(token: token, payload: payload) { $0.areDevicesElsewhere = true }.status == .invalidToken)
    }

    @Test func messagesAreKnownByTheirIDOrByTokenAndNumber() {
        let known = judge(token: token, payload: payload)
        #expect(known.key == MessageKey(id: "a1b2c3d4-0000-4000-8000-0123456789ac"))
        #expect(known.tokenHash != 0)
        let bare = Array("{}".utf8)
        let first = judge(token: token, payload: bare)
        #expect(first.key != .none && first.key == judge(token: token, payload: bare).key)
        #expect(first.key != judge(token: [1], payload: bare).key)
    }

    @Test func everyStatusHasACode() throws {
        let catalog = AnswerCatalog.of(.apnsBinary)
        for status in BinaryStatus.allCases {
            let code = try #require(catalog.code(ofReason: status.rawValue))
            #expect(catalog.status(code) == Int(status.code) && BinaryStatus(code: status.code) == status)
        }
        #expect(BinaryStatus(code: 99) == nil)
    }

    @Test func plansWithErrorPackets() {
        var plan = FaultPlan()
        plan.errorPackets = ErrorPacketFault(every: 1_000, status: 8)
        #expect(!plan.isQuiet && plan.problem(for: .apnsBinary) == nil)
        plan.errorPackets = ErrorPacketFault(every: 0, status: 8)
        #expect(plan.problem(for: .apnsBinary)?.contains("every") == true)
        plan.errorPackets = ErrorPacketFault(every: 1, status: 9)
        #expect(plan.problem(for: .apnsBinary)?.contains("128") == true)
    }
}
