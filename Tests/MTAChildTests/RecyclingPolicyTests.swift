import ProcessProtocol
import PushCore
import Testing

@testable import MTAChild

@Suite struct RecyclingPolicyTests {
    private let mebibyte: Int64 = 1_024 * 1_024

    private var policy: RecyclingPolicy {
        var settings = ChildSettings()
        settings.maxMsgPerChild = 1_000
        settings.maxAgeSec = 600
        settings.idleChildTimeoutSec = 60
        settings.maxWorkingSetMb = 64
        return RecyclingPolicy(settings: settings)
    }

    @Test func aChildBelowAllLimitsStays() {
        let reason = policy.reason(
            resolved: 999,
            age: .seconds(599),
            idle: .seconds(59),
            residentBytes: 64 * mebibyte
        )
        #expect(reason == nil)
    }

    /// A child whose gateway is down for an hour keeps waiting, so that its pauses stay as long as they have grown.
    @Test func aChildWhoseGatewayIsInTroubleIsNotReplacedForItsAge() {
        func reason(resolved: Int64 = 0, residentBytes: Int64 = 0) -> ChildExitReason? {
            policy.reason(
                resolved: resolved,
                age: .seconds(3_600),
                idle: .seconds(3_600),
                residentBytes: residentBytes,
                isGatewayWell: false
            )
        }
        #expect(reason() == nil)
        #expect(reason(resolved: 1_000) == .messageLimit)
        #expect(reason(residentBytes: 65 * mebibyte) == .memoryLimit)
    }

    @Test func eachLimitHasItsReason() {
        #expect(policy.reason(resolved: 1_000, age: .zero, idle: .zero, residentBytes: 0) == .messageLimit)
        #expect(policy.reason(resolved: 0, age: .seconds(600), idle: .zero, residentBytes: 0) == .ageLimit)
        #expect(policy.reason(resolved: 0, age: .zero, idle: .seconds(60), residentBytes: 0) == .idle)
        #expect(policy.reason(resolved: 0, age: .zero, idle: .zero, residentBytes: 64 * mebibyte + 1) == .memoryLimit)
    }
}
