import HTTP2
import Testing

@testable import Gateways

/// The reports about connections for operators.
@Suite struct GatewayReportsTests {
    private var reports: GatewayReports {
        GatewayReports(gateway: "APNs", address: GatewayAddress(host: "gateway.example", port: 443))
    }

    @Test func aGatewayThatAllowsNoStreamsIsToldOnce() throws {
        var reports = reports
        let usual = reports.limited(100)
        #expect(usual == nil)
        let limited = reports.limited(0)
        let told = try #require(limited)
        #expect(told.kind == .unreachable)
        #expect(told.message.contains("allows 0 streams") && told.message.contains("stay pending"))
        let twice = reports.limited(0)
        #expect(twice == nil)
        let again = reports.limited(1)
        #expect(again?.kind == .recovered)
    }

    @Test(arguments: [
        (
            "NIOSSLExtraError.failedToValidateHostname: Couldn't find a.example in certificate from peer",
            "does not name this host", true
        ),
        (
            "DNS error: SocketAddressError.UnknownHost: Name or service not known (error -2) for host a, port 1",
            "DNS does not know its name", false
        ),
    ])
    func causesInWords(_ reason: String, _ words: String, _ isUntrusted: Bool) {
        let cause = DialFailure(reason)
        #expect(cause.text.contains(words))
        #expect(cause.isUntrusted == isUntrusted)
    }

    /// The text of a GOAWAY is under the server's control.
    @Test func nothingInAGoAwayMovesATerminalsCursor() throws {
        var reports = reports
        let (reason, row) = APNsReason.goAway(Array("\u{1B}]0;owned\u{7}\u{1B}[2J".utf8))
        let told = reports.goAway(.noError, reason, row)
        let message = try #require(told).message
        #expect(message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect(message.contains("\u{241B}[2J"))
    }
}

private enum APNsReason {
    static func goAway(_ bytes: [UInt8]) -> (String, AnswerRow) {
        let reason = ReasonText.storable(String(decoding: bytes, as: UTF8.self))
        return (reason, GatewayAnswers.apnsHTTP2.goAway(reason: reason))
    }
}
