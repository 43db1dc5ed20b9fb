import Content
import MTAChild
import PushCore
import Store

/// Renders messages of a delivery that is prepared before its start: all of an explicit target, otherwise a sample.
struct MessageAnalysis {
    /// The number of messages of a sample: a second's work, and enough to show what one in a hundred has.
    private static let sampleSize = 1_000
    /// The number of messages of each application that are kept to be looked at.
    private static let shown = 3
    /// The number of parts that are loaded one after the other between two looks at the database.
    private static let partsAtOnce: Int32 = 50
    /// The number of sample messages between two looks at the delivery.
    private static let messagesAtOnce = 100
    /// A problem concerns at least this many messages, or all.
    private static let leastTooLong = 10

    let store: Store
    let job: PreparationJob

    /// Returns nil if the messages were dropped, or the delivery has started, meanwhile.
    func findings() async throws -> AnalysisFindings? {
        var findings = AnalysisFindings()
        do {
            let delivery = try await store.deliveryForPreview(job.deliveryID)
            for (application, account) in zip(job.applications, job.accounts) {
                let routing = try await ApplicationRouting(application, account: account, store)
                let previewer = try await MessagePreviewer.make(
                    delivery,
                    application: application,
                    account: account,
                    credential: routing.credential,
                    projectID: routing.projectID,
                    store: store
                )
                try await look(at: application, previewer, &findings)
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

    private func look(
        at application: ApplicationRow,
        _ previewer: MessagePreviewer,
        _ findings: inout AnalysisFindings
    ) async throws {
        let limit = job.isExplicit ? Self.shown : Self.sampleSize
        let sample = try await store.heldSample(of: job.deliveryID, application: application.id, limit: limit)
        let now = try await store.databaseClock().microsecondsSince1970 / 1_000_000
        var counts = Counts()
        var shown = 0
        for (place, message) in sample.enumerated() {
            if place % Self.messagesAtOnce == 0 { try await goOn() }
            guard let loaded = try await load(message, previewer) else { continue }
            if !job.isExplicit { counts.add(loaded, previewer, isUsual: !message.isLongest, &findings) }
            guard shown < Self.shown, let preview = previewer.preview(loaded, now: now), preview.problem == nil else {
                continue
            }
            shown += 1
            findings.samples.append(Self.sample(preview, application, message, loaded))
        }
        if job.isExplicit { try await measureAll(application, previewer, &counts, &findings) }
        findings.problems += counts.problems(of: application)
    }

    private func goOn() async throws {
        guard try await store.continuesAnalysis(of: job) else { throw Ended() }
    }

    /// The values of a message; nil if its subscription was deleted since.
    private func load(_ message: HeldMessage, _ previewer: MessagePreviewer) async throws -> LoadedPart? {
        do {
            return try await store.loadSubscription(
                message.subscriptionID,
                previewer.fields,
                variables: message.variables
            )
        } catch let error as StoreError where error.code == .notFound {
            return nil
        }
    }

    /// Renders all messages of an explicit target.
    private func measureAll(
        _ application: ApplicationRow,
        _ previewer: MessagePreviewer,
        _ counts: inout Counts,
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
            for part in parts {
                counts.add(try await store.loadPart(part, previewer.fields), previewer, isUsual: true, &findings)
            }
        }
    }

    private static func sample(
        _ preview: MessagePreview,
        _ application: ApplicationRow,
        _ message: HeldMessage,
        _ loaded: LoadedPart
    ) -> AnalysisFindings.Sample {
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
    }

    /// How many of an application's messages would not be sent. The values of a few people may be too long; if more than
    /// one in a hundred are, and at least ten, it is the content's fault. The longest values were looked for, so they do
    /// not count.
    private struct Counts {
        private var (all, tooLong, lacking) = (0, 0, 0)

        mutating func add(
            _ loaded: LoadedPart,
            _ previewer: MessagePreviewer,
            isUsual: Bool,
            _ findings: inout AnalysisFindings
        ) {
            previewer.measure(loaded) { size, refusal in
                findings.add(bytes: size)
                if refusal != nil { findings.refused += 1 }
                guard isUsual else { return }
                all += 1
                if refusal == .tooLong { tooLong += 1 }
                if refusal == .lacksField { lacking += 1 }
            }
        }

        func problems(of application: ApplicationRow) -> [DeliveryProblem] {
            var problems: [DeliveryProblem] = []
            if tooLong == all && all > 0 || tooLong >= MessageAnalysis.leastTooLong && tooLong * 100 > all {
                problems.append(
                    DeliveryProblem(
                        subject: "content",
                        pointer: "",
                        problem:
                            "application '\(application.name)': \(tooLong) of \(all) rendered messages are larger than "
                            + "their gateway accepts",
                        remedy: "shorten the texts, or the values of their fields"
                    )
                )
            }
            if lacking == all, all > 0 {
                problems.append(
                    DeliveryProblem(
                        subject: "content",
                        pointer: "",
                        problem:
                            "application '\(application.name)': all \(all) rendered messages lack the value of a field "
                            + "without a default",
                        remedy: "give the field a default, or its value to the target"
                    )
                )
            }
            return problems
        }
    }
}
