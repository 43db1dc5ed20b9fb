import Content
import MTAChild
import PushCore
import Store

/// Renders messages of a delivery that is prepared before its start.
struct MessageAnalysis {
    /// The number of messages that are rendered: a second's work, and enough to show what one in a hundred has.
    private static let sampleSize = 1_000
    /// The number of messages of each application that are kept to be looked at.
    private static let shown = 3

    let store: Store
    let job: PreparationJob

    func findings() async throws -> AnalysisFindings {
        let delivery = try await store.deliveryForPreview(job.deliveryID)
        let sample = try await store.heldSample(of: job.deliveryID, limit: Self.sampleSize)
        let now = try await store.databaseClock().microsecondsSince1970 / 1_000_000
        var findings = AnalysisFindings()
        for (application, account) in zip(job.applications, job.accounts) {
            let own = sample.filter { $0.applicationID == application.id }
            guard !own.isEmpty else { continue }
            let routing = try await ApplicationRouting(application, account: account, store)
            let previewer = try await MessagePreviewer.make(
                delivery,
                application: application,
                account: account,
                credential: routing.credential,
                projectID: routing.projectID,
                store: store
            )
            try await render(own, previewer, application, now: now, into: &findings)
        }
        return findings
    }

    private func render(
        _ sample: [HeldMessage],
        _ previewer: MessagePreviewer,
        _ application: ApplicationRow,
        now: Int64,
        into findings: inout AnalysisFindings
    ) async throws {
        var (shown, tooLong, usual) = (0, 0, 0)
        for message in sample {
            let loaded = try await store.loadSubscription(
                message.subscriptionID,
                previewer.fields,
                variables: message.variables
            )
            // Deleted since.
            guard let preview = previewer.preview(loaded, now: now) else { continue }
            findings.add(bytes: preview.size)
            if preview.problem != nil { findings.refused += 1 }
            if !message.isLongest {
                usual += 1
                if preview.size > preview.limit { tooLong += 1 }
            }
            guard shown < Self.shown, preview.problem == nil else { continue }
            shown += 1
            findings.samples.append(
                AnalysisFindings.Sample(
                    application: application.name,
                    subscriptionID: message.subscriptionID,
                    locale: preview.locale,
                    bytes: preview.size,
                    limit: preview.limit,
                    // Those who may look at it may not see push tokens.
                    payload: String(decoding: preview.payload, as: UTF8.self)
                        .replacing(loaded.tokens.string(0), with: "(push token)")
                )
            )
        }
        // The values of a few people may be too long; those of one in a hundred are the content's fault.
        guard tooLong * 100 > usual else { return }
        findings.problems.append(
            DeliveryProblem(
                subject: "content",
                pointer: "",
                problem:
                    "application '\(application.name)': \(tooLong) of \(usual) rendered messages are larger than their "
                    + "gateway accepts",
                remedy: "shorten the texts, or the values of their fields"
            )
        )
    }
}
