import Content
import MTAChild
import PushCore
import Store

/// Renders messages of a delivery that is prepared before its start: all of an explicit target, otherwise a sample.
struct MessageAnalysis {
    /// The number of messages of a sample: a second's work, and enough to show what one in a hundred has.
    private static let sampleSize = 1_000
    /// The number of messages of each application and variant that are kept to be looked at.
    private static let shown = 3
    /// The number of parts that are loaded one after the other between two looks at the database.
    private static let partsAtOnce: Int32 = 50

    let store: Store
    let job: PreparationJob

    /// Returns nil if the messages were dropped, or the delivery has started, meanwhile.
    func findings() async throws -> AnalysisFindings? {
        var findings = AnalysisFindings()
        do {
            for (application, account) in zip(job.applications, job.accounts) {
                let routing = try await ApplicationRouting(application, account: account, store)
                // Which variant the rest of an experiment gets is not known yet, so each is tried.
                for variant in job.shownVariants {
                    let delivery = try await store.deliveryForPreview(job.deliveryID, variant: variant?.number ?? 0)
                    let previewer = try await MessagePreviewer.make(
                        delivery,
                        application: application,
                        account: account,
                        credential: routing.credential,
                        projectID: routing.projectID,
                        store: store
                    )
                    try await look(at: application, Shown(previewer: previewer, variant: variant), &findings)
                }
            }
        } catch is Ended {
            return nil
        } catch let error as ContentError {
            findings.problems += error.problems.map {
                DeliveryProblem(subject: "content", pointer: $0.pointer, problem: $0.cause, remedy: $0.remedy)
            }
        } catch let error as MessageIDError {
            findings.problems.append(
                DeliveryProblem(subject: "application", pointer: "", problem: "\(error)", remedy: "analyse it again")
            )
        } catch let error as StoreError where error.code == .invalid {
            findings.problems.append(
                DeliveryProblem(
                    subject: "content",
                    pointer: "",
                    problem: "\(error)",
                    remedy: error.hint ?? "correct it"
                )
            )
        }
        return findings
    }

    /// The delivery is not to be looked at any more.
    private struct Ended: Error {}

    /// What messages are rendered with.
    private struct Shown {
        let previewer: MessagePreviewer
        /// The variant that they show; nil if the delivery is no experiment.
        let variant: PreparationJob.Variant?

        /// Whether the messages of a part can show it.
        func isShown(by part: ClaimedPart) -> Bool {
            variant == nil || part.variant == 0 || part.variant == variant?.number
        }
    }

    private func look(at application: ApplicationRow, _ shown: Shown, _ findings: inout AnalysisFindings) async throws {
        try await goOn()
        let sample = try await store.heldSample(
            of: job.deliveryID,
            application: application.id,
            limit: job.isExplicit ? Self.shown : Self.sampleSize,
            shown.previewer.fields
        )
        var rendered = RenderedMessages()
        if job.isExplicit {
            try await measureAll(application, shown, &rendered, &findings)
        } else {
            Self.measure(sample.messages, shown, &rendered, &findings) { !sample.areLongest[$0] }
        }
        findings.samples += try await samples(of: sample.messages, application, shown)
        findings.problems += rendered.problems(
            among: sample.all,
            ofApplication: application.name,
            variant: shown.variant?.label
        )
    }

    /// The first messages that would be sent.
    private func samples(of loaded: LoadedPart, _ application: ApplicationRow, _ shown: Shown) async throws
        -> [AnalysisFindings.Sample]
    {
        let now = try await store.databaseClock().microsecondsSince1970 / 1_000_000
        var samples: [AnalysisFindings.Sample] = []
        for row in 0..<loaded.count where samples.count < Self.shown {
            guard let preview = shown.previewer.preview(loaded, row: row, now: now), preview.problem == nil else {
                continue
            }
            samples.append(
                AnalysisFindings.Sample(
                    application: application.name,
                    variant: shown.variant?.label,
                    subscriptionID: loaded.subscriptionIDs[row],
                    locale: preview.locale,
                    bytes: preview.size,
                    limit: preview.limit,
                    // Those who may look at it may not see push tokens.
                    payload: String(decoding: preview.payload, as: UTF8.self)
                        .replacing(loaded.tokens.string(row), with: "(push token)")
                )
            )
        }
        return samples
    }

    /// - Parameter isUsual: whether a message was not chosen for the length of its values.
    private static func measure(
        _ loaded: LoadedPart,
        _ shown: Shown,
        _ rendered: inout RenderedMessages,
        _ findings: inout AnalysisFindings,
        isUsual: (Int) -> Bool = { _ in true }
    ) {
        shown.previewer.measure(loaded) { row, size, refusal in
            findings.add(bytes: size, isRefused: refusal != nil, variant: shown.variant?.label)
            rendered.add(refusal, isUsual: isUsual(row))
        }
    }

    private func goOn() async throws {
        guard try await store.continuesAnalysis(of: job) else { throw Ended() }
    }

    /// Renders all messages of an explicit target that can show this.
    private func measureAll(
        _ application: ApplicationRow,
        _ shown: Shown,
        _ rendered: inout RenderedMessages,
        _ findings: inout AnalysisFindings
    ) async throws {
        var last: Int64 = 0
        while true {
            try await goOn()
            let parts = try await store.heldParts(
                of: job.deliveryID,
                application: application.id,
                after: last,
                limit: Self.partsAtOnce
            )
            guard let end = parts.last else { return }
            last = end.id
            for part in parts where shown.isShown(by: part) {
                let loaded = try await store.loadPart(part, shown.previewer.fields)
                Self.measure(loaded, shown, &rendered, &findings)
            }
        }
    }
}
