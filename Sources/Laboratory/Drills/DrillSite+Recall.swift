import LaboratoryStore
import PushCore
import Store

extension DrillSite {
    /// Waits for the end of a recalled delivery and of the one that replaces or removes its messages. Its report must
    /// add up all the time, and at the end agree with the outcomes.
    func untilRecalled(_ delivery: DrillDelivery) async throws -> RecallReport {
        let id = delivery.id
        try await until("the end of delivery \(id)", within: Self.timeout, every: .milliseconds(100)) {
            _ = try await recallReport(id)
            let progress = try await progress(delivery)
            return progress.state == .recalled && progress.finishedAt != nil
        }
        let outcomes = try await store().outcomeRows(delivery: id)
        let seen = Int64(outcomes.count { $0.status == .sent || $0.status == .unknown })
        var told: Int64 = 0
        if let child = try await recallReport(id).child {
            // Everybody who may have seen the message gets the second one.
            let second = DrillDelivery(id: child, policy: .resend, messages: seen)
            watch(second)
            try await untilOver(second)
            told = try await progress(second).sent
        }
        let last = try await recallReport(id)
        let replaced = last.mode == .replace ? told : 0
        expect(
            last.pending == 0 && last.replaced == replaced && last.removed == 0 && last.unreached == 0
                && last.tooLate == seen - replaced && last.unsent == Int64(outcomes.count) - seen,
            "the report of delivery \(id) says \(last), but \(seen) of \(outcomes.count) messages may have been seen, "
                + "and the second delivery sent \(told)"
        )
        expect(last.child != nil || last.mode == .stop, "delivery \(id) has no second delivery")
        return last
    }

    /// The report of a recall, which must add up.
    private func recallReport(_ id: Int64) async throws -> RecallReport {
        guard let report = try await store().recallReport(ofDelivery: id) else {
            throw DrillFailure("delivery \(id) has no report of its recall")
        }
        let seen = report.replaced + report.removed + report.unreached + report.tooLate
        let sum = report.pending + report.unsent + seen
        expect(report.target == sum, "the report of delivery \(id) adds up to \(sum): \(report)")
        return report
    }
}
