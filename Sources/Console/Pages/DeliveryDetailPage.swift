import Foundation
import HTTPTypes
import PushCore
import Store

/// The page of a delivery: what became of it, what it waits for, and the actions.
struct DeliveryDetailPage: Sendable {
    let responder: ConsoleResponder

    /// The days of a page: a month. A delivery may run for years, and each day needs its own sums.
    static let maxDays = 31

    /// Messages after an action, here or on a page that leads here, by the word in the address.
    private static let done: [String: Phrase] = [
        TestPushPage.done: .testDone, Composer.started: .doneStart, Composer.unsaved: .draftIsDelivery,
        DeliveryAction.pause.rawValue: .donePause, DeliveryAction.resume.rawValue: .doneResume,
        DeliveryAction.stop.rawValue: .doneStop, DeliveryAction.request.rawValue: .doneRequest,
        DeliveryAction.reschedule.rawValue: .doneReschedule, DeliveryAction.edit.rawValue: .doneEdit,
        ApprovalDecision.approve.rawValue: .doneApprove, ApprovalDecision.reject.rawValue: .doneReject,
        ApprovalDecision.withdraw.rawValue: .doneWithdraw, DeliveryAction.recall.rawValue: .doneRecall,
        DeliveryFollowPage.done: .doneFollow, DeliveryRatePage.done: .doneFollow, ExperimentPage.done: .doneWinner,
    ]
    /// The actions for which a page asks for confirmation.
    private static let confirmed: [DeliveryAction] = [.stop, .start, .request, .reschedule, .edit]
    /// What a problem is about, by the database's word for it.
    private static let subjects: [String: Phrase] = [
        "approval": .problemApproval, "application": .columnApplication, "content": .problemContent,
        "filter": .problemFilter, "start": .problemStart, "target": .columnTarget,
    ]
    /// The remedy of a rejection, as `pushmta.reject_delivery` writes it.
    private static let rejectionRemedy = "change it, analyse it, and have it approved"

    var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        let pages = [
            ConsoleRoute(.get, "/deliveries/{id}", .role(.read)) { try await show($0) },
            ConsoleRoute(.get, "/deliveries/{id}" + ConsoleRoutes.livePath, .role(.read)) { call in
                let id = try call.number("id")
                let state = call.query["state"] ?? ""
                let look = call.query["look"]
                let since = call.query["since"].flatMap { Int64($0) } ?? 0
                return responder.live(call) {
                    let (read, facts) = try await responder.deliveries.part(id)
                    // A reading made for other pages before this page is older than the page.
                    guard facts.progress.now.microsecondsSince1970 > since else { return nil }
                    var part = read
                    // Nothing follows the end.
                    part.isLast = !facts.isFollowed
                    let isSame = facts.progress.state.rawValue == state && (look ?? facts.look) == facts.look
                    // In another state it has other buttons, so the page is reloaded.
                    return isSame
                        ? part : NowPart(html: part.html, event: .changed, readAt: part.readAt, isLast: true)
                }
            },
        ]
        // The database knows whose delivery it is.
        let questions = Self.confirmed.map { action in
            ConsoleRoute(.get, "/deliveries/{id}/\(action.rawValue)", .role(.marketing)) {
                try await confirm($0, action)
            }
        }
        // The recall has a form of its own: RecallPage.
        let actions = DeliveryAction.allCases.filter { $0 != .recall }.map { action in
            ConsoleRoute(.post, "/deliveries/{id}/\(action.rawValue)", .role(.marketing)) {
                try await control($0, action)
            }
        }
        // The database knows who made it.
        let decisions = ApprovalDecision.allCases.map { decision in
            ConsoleRoute(.post, "/deliveries/{id}/\(decision.rawValue)", .role(.marketing)) {
                try await decide($0, decision)
            }
        }
        return pages + questions + actions + decisions
    }

    private func decide(_ call: ConsoleCall, _ decision: ApprovalDecision) async throws -> ConsoleReply {
        let id = try call.number("id")
        let words = call.form[ApprovalView.wordsField] ?? ""
        let version = call.form[ApprovalView.versionField] ?? ""
        guard decision != .reject || !words.trimmed.isEmpty else {
            return try await show(
                call,
                decision: RefusedDecision(words: words, problem: catalogue[.rejectReasonMissing])
            )
        }
        do {
            try await responder.database.run {
                try await $0.decide(decision, delivery: id, words: words, expected: version, by: call.actor)
            }
        } catch let error as StoreError where error.sqlState == "PM007" || error.sqlState == RefusalWords.endsEarly {
            return try await show(call, decision: RefusedDecision(words: words, problem: refusals.words(error)))
        } catch let error as StoreError where error.sqlState == "PM184" {
            return try await show(call, decision: RefusedDecision(words: words, problem: catalogue[.approvalStale]))
        } catch let error as StoreError where error.sqlState == "PM008" && isRefusal(error) {
            // Somebody else has withdrawn it, decided about it or let it go meanwhile.
            let (progress, standing) = try await present(id)
            let state = DeliveryWords(row: progress, catalogue: catalogue, standing: standing).state.words
            return try await show(call, notice: catalogue.text(.decisionNotNow, state))
        } catch let error as StoreError where isRefusal(error) {
            return try await show(call, notice: refusals.words(error))
        }
        await responder.approvals.forget()
        return .redirect("/deliveries/\(id)?done=\(decision.rawValue)")
    }

    private var refusals: RefusalWords { RefusalWords(catalogue: catalogue) }

    private func present(_ id: Int64) async throws -> (DeliveryProgress, ApprovalStanding?) {
        try await responder.database.run { store in
            (try await store.deliveryProgress(id), try await store.approval(ofDelivery: id).standing)
        }
    }

    /// Whether the database has refused an action. A delivery that does not exist has a page of its own.
    private func isRefusal(_ error: StoreError) -> Bool { RefusalWords.isTold(error) && error.code != .notFound }

    private func control(_ call: ConsoleCall, _ action: DeliveryAction) async throws -> ConsoleReply {
        let id = try call.number("id")
        if action == .duplicate { return try await DeliveryDuplicate(responder: responder).reply(call, id) }
        let moment = try await moment(call.form)
        let recurrence = action == .edit ? try await standing(id) : nil
        do {
            // A recurring delivery that is edited has nothing to take back, but it may lack a draft.
            if recurrence?.deliveryState != .editing {
                try await responder.database.run {
                    try await $0.control(action, delivery: id, at: moment, by: call.actor)
                }
            }
            if recurrence != nil, try await lacksDraft(call, id) {
                await responder.approvals.forget()
                return try await DeliveryDuplicate(responder: responder).reply(call, id, edits: true)
            }
        } catch let error as StoreError where isRefusal(error) {
            return try await show(call, notice: refusals.words(error))
        }
        // Another start, and a way back to the draft, change what waits for an approval.
        await responder.approvals.forget()
        if action == .edit, let draft = try await draftPath(call, id) { return .redirect(draft) }
        // If it starts later, its page says so itself.
        let isLater = action == .start && moment != nil
        return .redirect("/deliveries/\(id)" + (isLater ? "" : "?done=\(action.rawValue)"))
    }

    /// The last step of a delivery's draft, if it has one that the user may change.
    func draftPath(_ call: ConsoleCall, _ id: Int64) async throws -> String? {
        guard call.mayCompose else { return nil }
        let drafts = try await responder.database.run {
            try await $0.consoleDrafts(limit: Composer.maxDrafts, by: call.actor)
        }
        return drafts.first { $0.deliveryID == id }.map { Composer(responder: responder).path($0, .send) }
    }

    /// The time that a form names; nil if it has no such field.
    private func moment(_ fields: FormParameters) async throws -> DatabaseTime? {
        guard let text = fields[Composer.momentField] else { return nil }
        return try await Composer(responder: responder).moment(text, in: zone(fields))
    }

    /// The zone of that time.
    private func zone(_ fields: FormParameters) -> String { fields[Composer.zoneField] ?? ZoneMenu.utc }

    private func confirm(_ call: ConsoleCall, _ action: DeliveryAction) async throws -> ConsoleReply {
        let id = try call.number("id")
        let composer = Composer(responder: responder)
        let moment: DatabaseTime?
        do {
            moment = try await self.moment(call.query)
        } catch ConsoleProblem.conflict(let words) {
            return try await show(call, refused: words)
        }
        let (progress, standing) = try await present(id)
        // An address that somebody typed or kept.
        guard Self.actions(on: progress).contains(action), action != .start || standing != .awaited else {
            let state = DeliveryWords(row: progress, catalogue: catalogue, standing: standing).state.words
            return try await show(call, notice: catalogue.text(.actionNotNow, state))
        }
        let isStart = [.start, .request, .reschedule].contains(action)
        if isStart, let words = try await refusal(ofStart: moment, progress, mayStartNow: action == .start) {
            return try await show(call, refused: words)
        }
        let shown = moment.map {
            composer.shown($0, call.query[Composer.momentField] ?? "", zone(call.query))
        }
        let recalled = try await responder.database.run { try await $0.delivery(recalledBy: id) }
        let recurrence = try await self.standing(id)
        let words =
            recurrence.flatMap { recurringWords(action, $0) }
            ?? self.words(action, progress, at: shown, standing: standing, recalled: recalled)
        var values: PageValues = [
            "subject": .text(DeliveryWords(row: progress, catalogue: catalogue).name), "text": .text(words.text),
            "action": .text("/deliveries/\(id)/\(action.rawValue)"), "button": .text(catalogue[words.button]),
            "back": .text("/deliveries/\(id)"), "isMild": .flag(action != .stop),
        ]
        if isStart {
            let reader = DeliveryStartFacts(catalogue: catalogue)
            // A request without a time leaves it to the approval.
            let begins = action == .start ? moment ?? progress.now : moment
            let (facts, waits, reachesNobody) = try await responder.database.run { store in
                try await Figures.$zone.withValue(try await store.clock(ofDelivery: id)) {
                    try await reader.read(store, id, start: begins)
                }
            }
            values["hasFacts"] = .flag(!facts.isEmpty)
            values["startFacts"] = .list(facts.map { ["name": .text($0.name), "value": .text($0.value)] })
            values["reachesNobody"] = .flag(reachesNobody)
            if let waits { values["text"] = .text("\(words.text) \(catalogue[waits])") }
        }
        if let moment { values["moment"] = .group(["at": .text(Composer.text(moment))]) }
        return .page(ConsolePage("confirm", title: catalogue[words.title], values))
    }

    /// Why a delivery cannot have a start, in words; nil if it can. The database refuses such a start as well, for every
    /// caller.
    ///
    /// - Parameter mayStartNow: whether the user could start it at once instead.
    private func refusal(ofStart moment: DatabaseTime?, _ progress: DeliveryProgress, mayStartNow: Bool)
        async throws -> String?
    {
        let composer = Composer(responder: responder)
        let id = progress.id
        let clock = try await responder.database.run { try await $0.clock(ofDelivery: id) }
        return try await Figures.$zone.withValue(clock) { () async throws -> String? in
            if let moment,
                let words = composer.problem(ofStart: moment, now: progress.now, mayStartNow: mayStartNow)
            {
                return words
            }
            do {
                try await responder.database.run { try await $0.checkStart(ofDelivery: id, at: moment) }
                return nil
            } catch let error as StoreError where RefusalWords.isTold(error) {
                return refusals.words(error)
            }
        }
    }

    /// What the page says that asks for confirmation.
    ///
    /// - Parameters:
    ///   - standing: nil if it needs no approval; otherwise another start needs one of its own.
    ///   - recalled: the delivery whose messages it replaces or removes.
    private func words(
        _ action: DeliveryAction,
        _ row: DeliveryProgress,
        at moment: String?,
        standing: ApprovalStanding?,
        recalled: Int64?
    ) -> (title: Phrase, text: String, button: Phrase) {
        let start = moment.map { catalogue.text(.startAt, $0) } ?? catalogue[.startNow]
        let pending = Figures.count(row.pending)
        switch action {
        case .start: return (.startTitle, row.state == .ready ? "\(start) \(prepared(row))" : start, .startButton)
        case .request:
            let asked = moment.map { catalogue.text(.requestAt, $0) } ?? catalogue[.requestNow]
            let count = prepared(row)
            return (.requestTitle, row.state == .ready ? "\(asked) \(count)" : asked, .requestButton)
        case .reschedule:
            guard let moment else {
                return (.moveTitle, standing == .awaited ? catalogue[.requestNow] : start, .moveButton)
            }
            return (.moveTitle, standing == nil ? start : catalogue.text(.requestAt, moment), .moveButton)
        case .edit: return (.editTitle, catalogue[.editText], .editButton)
        case .stop where recalled != nil:
            let text: Phrase = row.startedAt == nil ? .stopRecallText : .stopBegunRecallText
            return (.stopTitle, catalogue.text(text, recalled.map { "\($0)" } ?? ""), .stopButton)
        case .stop where row.state == .editing: return (.stopTitle, catalogue[.stopEditedText], .stopButton)
        case .stop where row.startedAt == nil: return (.stopTitle, catalogue[.stopEarlyText], .stopButton)
        case .stop, .pause, .resume, .recall, .duplicate:
            return (.stopTitle, catalogue.text(.stopText, count: row.pending, pending), .stopButton)
        }
    }

    /// How many messages an analysed delivery has. One without any reaches nobody.
    private func prepared(_ row: DeliveryProgress) -> String {
        row.pending == 0
            ? catalogue[.startNobody] : catalogue.text(.analysisCount, count: row.pending, Figures.count(row.pending))
    }

    /// - Parameters:
    ///   - refused: why the time in the address cannot be the start.
    ///   - decision: an approval, rejection or withdrawal that was refused.
    ///   - notice: why nothing was done, where no field of the page is at fault.
    private func show(
        _ call: ConsoleCall,
        refused: String = "",
        decision: RefusedDecision? = nil,
        notice: String = ""
    ) async throws -> ConsoleReply {
        let id = try call.number("id")
        let below = call.query["below"].flatMap { Int64($0) } ?? .max
        let facts = try await responder.database.run { try await DeliveryFacts.read($0, id, daysBelow: below) }
        if below == .max { await responder.deliveries.note(facts) }
        return try await Figures.$zone.withValue(facts.reasons.clock) {
            try await page(call, facts, below: below, refused: refused, decision: decision, notice: notice)
        }
    }

    private func page(
        _ call: ConsoleCall,
        _ facts: DeliveryFacts,
        below: Int64,
        refused: String,
        decision: RefusedDecision?,
        notice: String
    ) async throws -> ConsoleReply {
        let id = facts.progress.id
        let words = DeliveryWords(row: facts.progress, catalogue: catalogue, standing: facts.counts.standing)
        let view = DeliveryView(
            facts: facts,
            rate: await responder.deliveries.rate(noting: facts.progress),
            isLater: below != .max,
            catalogue: catalogue,
            meanings: responder.setup.meanings
        )
        let state = facts.progress.state
        var values = words.summary.merging(Self.back(call)) { own, _ in own }
        values.merge(try await origin(id)) { _, new in new }
        let before = try await beforeStart(call, facts.progress)
        values.merge(before.values) { _, new in new }
        var live = view.values
        // The list of problems says the same, and more.
        if values["problems"] != nil { live["hasReason"] = .flag(false) }
        values["live"] = .drawing(Markup(trusted: responder.pages.fragment("delivery-live", live)))
        if let parent = facts.progress.parentID { values["parent"] = .group(["parentID": .text("\(parent)")]) }
        if facts.progress.parentID == nil {
            let whole = try await self.whole(call, facts, before.lastCount, refused: refused, decision: decision)
            values.merge(whole) { _, new in new }
            if values["draft"] != nil { values["mayEditContent"] = .flag(false) }
        }
        // Of those that are edited, only a recall goes on by itself.
        if facts.isFollowed, state != .editing || values["recallOf"] != nil, below == .max {
            let since = facts.progress.now.microsecondsSince1970
            let path =
                "/deliveries/\(id)\(ConsoleRoutes.livePath)?state=\(state.rawValue)&look=\(facts.look)&since=\(since)"
            values["follow"] = .group(["path": .text(path)])
            values["hasBar"] = .flag(true)
        }
        values.merge(ArchivePage.links(call, facts.progress, catalogue)) { _, new in new }
        // A continuous delivery has no messages of its own; each of its days has.
        values["hasMessages"] = .flag(!words.isInDays && facts.progress.target > 0)
        values["mayTake"] = .flag(call.mayOperate)
        if !notice.isEmpty { values["startProblem"] = .group(["words": .text(notice)]) }
        if let said = said(call, facts.progress, values) {
            values["done"] = .text(catalogue[said])
            values["isDone"] = .flag(true)
            values["isInVain"] = .flag(said == .draftIsDelivery)
        }
        return .page(
            ConsolePage(
                "delivery",
                title: words.name,
                values,
                status: refused.isEmpty && decision == nil && notice.isEmpty ? .ok : .conflict
            )
        )
    }

    /// What was done, by the address; nil if it names nothing.
    private func said(_ call: ConsoleCall, _ progress: DeliveryProgress, _ values: PageValues) -> Phrase? {
        guard let word = call.query["done"],
            let done = Self.done[word] ?? RecurrencePage.done[word] ?? ArchivePage.done[word]
        else { return nil }
        // Nobody edits the second delivery of a recall.
        if done == .doneReject, values["recallOf"] != nil { return .doneRejectRecall }
        // Its recurring delivery is what to correct.
        if done == .doneReject, values["runOf"] != nil { return .doneRejectRun }
        if done == .doneApprove, values["recurs"] != nil { return .doneApproveRuns }
        return done == .doneResume && progress.startedAt == nil ? .doneResumeEarly : done
    }

    /// What the page of a day of a continuous delivery lacks: its approval, its actions, and what it belongs to.
    private func whole(
        _ call: ConsoleCall,
        _ facts: DeliveryFacts,
        _ lastCount: Int64?,
        refused: String,
        decision: RefusedDecision?
    ) async throws -> PageValues {
        let progress = facts.progress
        let id = progress.id
        let allowed = try await responder.database.run { try await $0.actions(onDelivery: id, by: call.actor) }
        let recurrence = try await self.recurrence(progress, isAllowed: allowed.contains(.start))
        var values = recurrence
        if allowed.contains(.start) { values.merge(variants(facts)) { _, new in new } }
        values.merge(try await about(facts, lastCount: lastCount)) { _, new in new }
        let mayEdit = allowed.contains(.edit)
        let approval = try await self.approval(call, progress, mayEdit: mayEdit, refused: decision)
        values.merge(approval.values) { _, new in new }
        // A recurring delivery is not started itself.
        let barred: Set<DeliveryAction> = recurrence["recurs"] == nil ? approval.barred : [.start, .request]
        let offered = allowed.subtracting(barred)
        let hasSignals = try await responder.database.run { try await !$0.signalChoices().isEmpty }
        values.merge(actions(progress, offered, hasSignals: hasSignals)) { _, new in new }
        values.merge(recurringEdit(progress, offered, recurs: recurrence["recurs"] != nil)) { _, new in new }
        let timed = offered.intersection(Self.actions(on: progress))
        let schedule = try await DeliverySchedule(responder: responder)
            .values(call, progress, timed, mayAwait: approval.mayAwait, problem: refused)
        values.merge(schedule) { _, new in new }
        let (recalled, running) = try await responder.database.run { store in
            (try await store.delivery(recalledBy: id), try await store.runningRecall(ofDelivery: id))
        }
        if let recalled { values["recallOf"] = .group(try await recallOf(recalled, by: progress, call)) }
        // One recall follows another, and no recall is recalled.
        if recalled != nil || running != nil { values["mayRecall"] = .flag(false) }
        values["recallLabel"] = .text(catalogue[progress.state == .recalled ? .recallAgainButton : .recallButton])
        return values
    }

    /// What the page of a delivery that replaces or removes the messages of another one says of that one.
    private func recallOf(_ recalled: Int64, by progress: DeliveryProgress, _ call: ConsoleCall) async throws
        -> PageValues
    {
        let (report, running, allowed) = try await responder.database.run { store in
            (
                try await store.recallReport(ofDelivery: recalled), try await store.runningRecall(ofDelivery: recalled),
                try await store.actions(onDelivery: recalled, by: call.actor)
            )
        }
        var values: PageValues = [
            "recalledID": .text("\(recalled)"),
            "isGivenUp": .flag(progress.state == .stopped && progress.startedAt == nil),
        ]
        // Those who approve it read why. A later recall has a reason of its own.
        if let report, report.child == progress.id { values["why"] = .group(["words": .text(report.reason)]) }
        if running == nil, progress.state.isFinal, allowed.contains(.recall) {
            values["again"] = .group(["words": .text(catalogue.text(.recallOtherAgain, "\(recalled)"))])
        }
        return values
    }

    /// The saved audience that a delivery's filter was copied from, the delivery that it is a copy of, and why an earlier
    /// version came back.
    private func origin(_ id: Int64) async throws -> PageValues {
        let (audience, source, reason) = try await responder.database.run { store in
            (
                try await store.audience(ofDelivery: id), try await store.copySource(ofDelivery: id),
                try await store.earlierReturn(ofDelivery: id)
            )
        }
        var values: PageValues = [:]
        if !audience.isEmpty { values["audience"] = .text(catalogue.text(.audienceOrigin, audience)) }
        if let source { values["copied"] = .group(["copiedID": .text("\(source)")]) }
        if !reason.isEmpty { values["earlierReturn"] = .text(reason) }
        return values
    }

    /// What a page shows of a delivery that has not begun: its analysis, with what an earlier one counted; or why it
    /// cannot be sent, and its draft.
    private func beforeStart(_ call: ConsoleCall, _ progress: DeliveryProgress) async throws
        -> (values: PageValues, lastCount: Int64?)
    {
        let id = progress.id
        switch progress.state {
        case .analysing, .ready, .pending,
            .paused where progress.startedAt == nil:
            let read = try await responder.database.run { try await AnalysisFacts.read($0, id, by: call.actor) }
            guard let read else { return ([:], nil) }
            let isCounted = read.analysis.finishedAt != nil
            let late = try await responder.database.run {
                try await $0.lateMessages(ofDelivery: id, start: progress.startAt)
            }
            let view = AnalysisView(read: read, late: isCounted ? late.messages : 0, catalogue: catalogue)
            var values: PageValues = view.isEmpty ? [:] : ["analysis": .group(view.values)]
            values["reachesNobody"] = .flag(isCounted && late.isAll)
            return (values, isCounted ? read.analysis.messages : nil)
        case .editing:
            let problems = try await responder.database.run { try await $0.problems(ofDelivery: id) }
            var values: PageValues = [:]
            if !problems.isEmpty {
                let rows = problems.map { problem -> PageValues in
                    let subject = Self.subjects[problem.subject].map { catalogue[$0] }
                    let isRejection = problem.remedy == Self.rejectionRemedy
                    return [
                        "subject": .text(subject ?? problem.subject), "isForeign": .flag(subject == nil),
                        "place": .text(problem.pointer),
                        "problem": .text(Figures.inZone(problem.problem).capitalisedFirst),
                        "remedy": .text(isRejection ? catalogue[.rejectRemedy] : problem.remedy.capitalisedFirst),
                        "isTold": .flag(isRejection),
                    ]
                }
                values["problems"] = .group(["rows": .list(rows)])
            }
            if let draft = try await draftPath(call, id) { values["draft"] = .group(["draftPath": .text(draft)]) }
            return (values, nil)
        case .preparing, .inProgress, .paused, .finished, .stopped, .recalled: return ([:], nil)
        }
    }

    /// When a delivery recurs; the recurring delivery of a run; nothing for others that cannot recur.
    private func recurrence(_ progress: DeliveryProgress, isAllowed: Bool) async throws -> PageValues {
        let id = progress.id
        let (row, next, runs, recurring) = try await responder.database.run { store in
            (
                try await store.recurrence(ofDelivery: id), try await store.nextRuns(ofDelivery: id),
                try await store.recurrenceRuns(ofDelivery: id, limit: RecurrenceView.maxRuns),
                try await store.recurringDelivery(ofRun: id)
            )
        }
        var values: PageValues = [:]
        if let recurring { values["runOf"] = .group(["recurringID": .text("\(recurring)")]) }
        if row != nil { values["recurs"] = .flag(true) }
        let isOpen = [.editing, .analysing, .ready].contains(progress.state)
        let mayRecur = isAllowed && isOpen && progress.kind == .batch && recurring == nil
        guard row != nil || mayRecur || !runs.isEmpty else { return values }
        let zone = row?.rule.timeZone ?? ZoneMenu.utc
        let local = try await responder.database.run {
            try await $0.localTimes(of: next + runs.map(\.plannedAt), in: zone)
        }
        let view = RecurrenceView(
            row: row,
            next: next,
            runs: runs,
            local: local,
            isAllowed: mayRecur,
            catalogue: catalogue
        )
        values["recurrence"] = .group(view.values)
        return values
    }

    /// The variants with a preview, and those that a person may choose for the rest of an experiment.
    private func variants(_ facts: DeliveryFacts) -> PageValues {
        guard let view = ExperimentView(facts, catalogue) else { return [:] }
        var values: PageValues = ["looks": .group(["variants": .list(view.looks)])]
        if !view.choices.isEmpty {
            values["choices"] = .group(["variants": .list(view.choices)])
        }
        return values
    }

    /// What can be done with a delivery in its state, whatever the user's role.
    private static func actions(on row: DeliveryProgress) -> Set<DeliveryAction> {
        switch row.state {
        case .analysing, .ready: [.start, .request, .edit, .duplicate]
        case .pending: [.pause, .stop, .reschedule, .edit, .duplicate]
        case .preparing, .inProgress: [.pause, .stop, .recall, .duplicate]
        case .paused where row.startedAt == nil: [.resume, .stop, .reschedule, .edit, .duplicate]
        case .paused: [.resume, .stop, .recall, .duplicate]
        case .finished, .stopped, .recalled: RecallPage.isRecallable(row) ? [.recall, .duplicate] : [.duplicate]
        case .editing: [.stop, .duplicate]
        }
    }

    private func actions(_ row: DeliveryProgress, _ allowed: Set<DeliveryAction>, hasSignals: Bool) -> PageValues {
        let offered = allowed.intersection(Self.actions(on: row))
        guard !offered.isEmpty else { return [:] }
        // Who may pause it may also choose its rate. That of one that is edited is chosen in its draft.
        let mayRate = allowed.contains(.pause) && !row.state.isFinal && row.state != .editing
        return [
            "mayPause": .flag(offered.contains(.pause)), "mayResume": .flag(offered.contains(.resume)),
            "mayStop": .flag(offered.contains(.stop)), "mayStart": .flag(offered.contains(.start)),
            "mayRequest": .flag(offered.contains(.request)),
            "mayRecall": .flag(offered.contains(.recall) && row.kind == .batch),
            "mayEdit": .flag(offered.contains(.edit)), "mayDuplicate": .flag(offered.contains(.duplicate)),
            "mayRate": .flag(mayRate), "mayFollow": .flag(mayRate && hasSignals),
            // The author of a delivery that somebody else, or the engine, has paused.
            "waitsForOperator": .flag(row.state == .paused && !allowed.contains(.resume) && allowed.contains(.pause)),
            "hasActions": .flag(true), "hasBar": .flag(true),
        ]
    }
}

/// The figures that the table by application lacks so far: it is read less often than the counts.
struct Uncounted: Sendable, Hashable {
    let outcomes: Bool
    let received: Bool
    let clicked: Bool

    /// - Parameter hits: those of the whole delivery.
    init(_ facts: DeliveryFacts, _ hits: Hits) {
        let rows = facts.reasons.byApplication
        let statuses: [MessageStatus] = [.sent, .failed, .ignored, .notApplicable, .canceled, .unknown]
        let ended = statuses.reduce(0) { $0 + facts.count($1) }
        outcomes = rows.reduce(0) { $0 + $1.sent + $1.failed + $1.other } < ended
        // No more hits are shown than messages that arrived, and those are counted late.
        received = outcomes && rows.reduce(0) { $0 + min($1.received, $1.sent + $1.other) } < hits.received
        clicked = outcomes && rows.reduce(0) { $0 + min($1.clicked, $1.sent + $1.other) } < hits.clicked
    }

    /// A zero means "counted, and none"; a figure that is not counted yet shows a dash.
    static func shown(_ count: Int64, _ isUncounted: Bool) -> String {
        count == 0 && isUncounted ? "–" : Figures.count(count)
    }
}

/// Receipts and clicks, as a page shows them next to the outcomes. Hits are counted within seconds, outcomes when
/// their part is done; no more receipts are shown than messages that arrived.
struct Hits: Sendable, Hashable {
    /// Messages that devices have received.
    let received: Int64
    /// Messages that people have opened.
    let clicked: Int64

    /// - Parameter arrived: messages that the gateway accepted, and those whose outcome is unknown.
    init(received: Int64, clicked: Int64, arrived: Int64) {
        self.received = min(received, arrived)
        self.clicked = min(clicked, arrived)
    }
}
