import PushCore
import Store

/// The parts of the page that stay as they are: whom the delivery goes to, who made it, and what it says.
extension DeliveryDetailPage {
    /// How long a page counts an audience.
    private static let countingLimit = Duration.milliseconds(200)

    /// The query parameter with the page of the console that led to a proof.
    static let backField = "back"

    /// A link back there.
    static func back(_ call: ConsoleCall) -> PageValues {
        let path = SignIn.next(call.query[backField])
        return path == "/" ? [:] : ["backPage": .group(["path": .text(path)])]
    }

    /// - Parameter lastCount: what its last analysis counted; nil if it had none.
    func about(_ facts: DeliveryFacts, lastCount: Int64?) async throws -> PageValues {
        let progress = facts.progress
        let isContinuous = progress.kind == .continuous
        let (subject, applications, connectors, filter, approval) = try await responder.database.run { store in
            let subject = try await store.subject(ofDelivery: progress.id)
            var filter: TargetFilter?
            if let text = subject.targeting.filter { filter = try? await store.parseFilter(text).get() }
            let applications = try await store.applications().filter { facts.applications.contains($0.name) }
            let connectors = Dictionary(
                uniqueKeysWithValues: try await store.accounts().map { ($0.id, $0.connector) }
            )
            let approval = isContinuous ? nil : try await store.approval(ofDelivery: progress.id)
            return (subject, applications, connectors, filter, approval)
        }
        let recalled = try await responder.database.run { try await $0.delivery(recalledBy: progress.id) }
        var number = isContinuous ? nil : facts.number
        if !isContinuous, number == nil {
            let holdsOut = facts.reasons.experiment.map { $0.row.holdOutPercent > 0 } ?? false
            number = try await estimate(progress, subject, filter, applications, lastCount, holdsOut: holdsOut)
        }
        let about = DeliveryAboutView(
            progress: progress,
            subject: subject,
            filter: filter,
            approval: approval,
            number: number,
            recalled: recalled,
            catalogue: responder.pages.catalogue
        )
        let content = DeliveryContentView(
            content: subject.content,
            variants: facts.reasons.experiment?.variants ?? [],
            applications: applications,
            connectors: connectors,
            icons: try await ApplicationIcons.read(responder.database),
            catalogue: responder.pages.catalogue
        )
        var values: PageValues = ["about": .group(about.values)]
        values.merge(content.values) { own, _ in own }
        return values
    }

    /// How many messages a delivery has or, if they are not made, would have now.
    func number(_ progress: DeliveryProgress) async throws -> TargetNumber {
        if let number = TargetNumber(progress) { return number }
        let (subject, filter, applications, holdOut) = try await responder.database.run { store in
            let subject = try await store.subject(ofDelivery: progress.id)
            var filter: TargetFilter?
            if let text = subject.targeting.filter { filter = try? await store.parseFilter(text).get() }
            let names = try await store.applicationNames(ofDeliveries: [progress.id])[progress.id] ?? []
            return (
                subject, filter, try await store.applications().filter { names.contains($0.name) },
                try await store.experiment(ofDelivery: progress.id)?.holdOutPercent ?? 0
            )
        }
        return try await estimate(progress, subject, filter, applications, nil, holdsOut: holdOut > 0)
    }

    /// What a delivery whose messages are not made would send: as its last analysis counted it, or as its filter selects
    /// now.
    private func estimate(
        _ progress: DeliveryProgress,
        _ subject: DeliverySubject,
        _ filter: TargetFilter?,
        _ applications: [ApplicationRow],
        _ lastCount: Int64?,
        holdsOut: Bool
    ) async throws -> TargetNumber {
        if let lastCount { return .last(lastCount) }
        let targeting = subject.targeting
        // Only preparation reads lists of targets and conditions in SQL.
        guard !targeting.isExplicit, !targeting.hasRawSQL, (filter == nil) == (targeting.filter == nil) else {
            return .unknown
        }
        do {
            let ids = applications.map(\.id)
            let isCode = progress.isOneTimeCode
            let limit = Self.countingLimit
            let (count, mayLeaveOut) = try await responder.database.run { store in
                (
                    try await store.countAudience(filter, applications: ids, isOneTimeCode: isCode, within: limit),
                    try await store.mayLeaveOut(
                        applications: ids,
                        category: progress.category,
                        isOneTimeCode: isCode
                    )
                )
            }
            guard !count.needsMapping else { return .unknown }
            let isAtMost =
                subject.isOnePerUser || mayLeaveOut || holdsOut || !targeting.excludedLists.isEmpty
            return .estimate(count, isAtMost: isAtMost)
        } catch let error as StoreError where error.code == .invalid {
            return .unknown
        } catch ConsoleProblem.tooSlow {
            return .unknown
        }
    }
}
