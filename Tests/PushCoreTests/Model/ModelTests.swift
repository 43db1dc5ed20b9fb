import Testing

@testable import PushCore

@Suite struct ModelTests {
    @Test func statusNamesReadBack() {
        #expect(
            MessageStatus.allCases.map(\.name) == [
                "ignored", "sent", "failed", "pending", "canceled", "not_applicable", "unknown",
            ]
        )
        for status in MessageStatus.allCases { #expect(MessageStatus(name: status.name) == status) }
        #expect(MessageStatus(name: "Sent") == nil)
    }

    @Test func connectorsKnowTheirPlatform() {
        #expect(Connector.allCases.map(\.platform) == [.ios, .ios, .android, .android])
        #expect(Connector(rawValue: "ios-http2") == .iosHTTP2)
    }

    @Test func endedDeliveries() {
        #expect(DeliveryState.allCases.filter(\.isFinal) == [.finished, .stopped, .recalled])
    }
}
