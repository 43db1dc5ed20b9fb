import Administration
import Foundation
import PushCore
import Store

/// Some tokens get answers that no other token gets. It shows whether they stop only themselves or others, too.
struct PoisonedTokensDrill: Drill {
    let name = "poisoned-tokens"
    let summary =
        "47 tokens, the first of the delivery, always get 401 THIRD_PARTY_AUTH_ERROR, and one in 100 of the others "
        + "500 INTERNAL"
    let promise =
        "all others are sent, the 47 wait under one alarm, no gateway is in trouble; once corrected, they are sent too"
    var needs: [DrillNeed] { [.simulator] }
    /// It counts the injected faults, not the requests that they hit.
    var minimumFaults: Int { 1 }
    let messages: Int64 = 20_000

    private static let wrongCredential = 47
    private static let failing: Int64 = 100

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.android])
        let store = try site.store()
        // The list has the newest first. Parts are made by id, so the oldest are sent first.
        let devices = try await store.subscriptions(application: audience[0], limit: Int(site.messages))
        let poisoned = devices.suffix(Self.wrongCredential).map(\.pushToken)
        let failing = devices.dropLast(Self.wrongCredential).enumerated().filter { $0.offset % Int(Self.failing) == 0 }
            .map(\.element.pushToken)
        try await script(site, poisoned, "THIRD_PARTY_AUTH_ERROR")
        try await script(site, failing, "INTERNAL")
        let delivery = try await site.deliver(to: audience)
        var streams: Int64 = 0
        try await site.until("requests on the wire", within: DrillSite.timeout) {
            streams = try await site.streams()
            return streams >= DrillFault.minStreams
        }
        let good = site.messages - Int64(poisoned.count + failing.count)
        try await site.until("\(good) sent messages", within: DrillSite.timeout) {
            try await site.progress(delivery).sent >= good
        }
        site.noteFaults("tokens with their own answers", number: 1, streams: streams)
        try await site.until("the alarm that names the cause", within: .seconds(20)) {
            try await store.alarms().contains {
                $0.code == "credential_refused" && $0.text.contains("\(poisoned.count) of its messages")
                    && $0.text.contains("THIRD_PARTY_AUTH_ERROR")
            }
        }
        let alarms = try await store.alarms().map(\.code)
        site.expect(!alarms.contains("gateway_trouble"), "the gateway counts as in trouble: \(alarms)")
        site.expect(try await site.progress(delivery).failed == 0, "messages have failed")
        try await script(site, poisoned + failing, nil)
        try await store.resumeApplication(named: audience[0])
        try await site.untilOver()
        try await site.expectAllSent([delivery], attempts: 1...1)
        let left = try await store.alarms().map(\.code)
        site.expect(!left.contains("credential_refused"), "the alarm is still active: \(left)")
    }

    /// Has the gateway answer these devices with a reason; `nil`: as usual.
    private func script(_ site: DrillSite, _ tokens: [String], _ reason: String?) async throws {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = reason.map { ",\"answer\":{\"reason\":\"\($0)\"}" } ?? ""
        try await site.control?.post("/devices", "{\"tokens\":[\(list)]\(answer)}")
    }
}
