import Store
import Testing

@testable import Supervisor

@Suite("Alarms as metrics")
struct AlarmReadingTests {
    @Test("Alarms are counted by code and severity, and alarms that have ended count as 0")
    func counts() {
        func alarm(_ code: String, _ severity: AlarmRow.Severity = .warning) -> AlarmRow {
            AlarmRow(severity: severity, code: code, subjectKind: "delivery", text: "")
        }
        func kind(_ code: String, _ severity: String = "warning") -> AlarmReading.Kind {
            AlarmReading.Kind(code: code, severity: severity)
        }
        let first = AlarmReading(
            [alarm("delivery_paused"), alarm("delivery_paused"), alarm("circuit_open", .critical)],
            locks: 0,
            at: .now,
            before: nil
        )
        #expect(first.counts == [kind("delivery_paused"): 2, kind("circuit_open", "critical"): 1])
        let second = AlarmReading([alarm("delivery_paused")], locks: 2, at: .now, before: first)
        #expect(
            second.counts == [
                kind("delivery_paused"): 1, kind("circuit_open", "critical"): 0, kind("lock_held", "critical"): 2,
            ]
        )
    }
}
