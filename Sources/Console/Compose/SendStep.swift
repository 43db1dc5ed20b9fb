import Content
import Foundation
import HTTPTypes
import PushCore
import Store

/// The last step: a proof to seed addresses, and the start, now or later.
extension Composer {
    /// The field with the time of the start.
    static let momentField = "at"

    /// The same limit as in `pushmta.start_delivery`: a time that passed while the user filled in the form means now.
    private static let maxPassedMicroseconds: Int64 = 60_000_000

    /// The values of the buttons that lead to the confirmation: of a start, of a start after its messages are counted,
    /// and of a request for an approval.
    private static let (starts, counts, requests) = ("start", "count", "request")
    /// The value of the button, and of the field ``asksField``, that puts a draft into force for the recurring delivery
    /// that it changes.
    private static let forces = "force"
    /// The field that says that messages are counted before the start, and its values: if an approval is expected, and
    /// if none is.
    private static let (asksField, asked, small) = ("ask", "1", "small")

    /// The value in the address of a delivery's page after its start.
    static let started = "start"

    var sendRoutes: [ConsoleRoute] {
        [
            route(.get, "send") { try await sendPage($0, $1) },
            route(.post, "send") { try await saveSettings($0, $1) },
            route(.post, "proof") { try await prove($0, $1) },
            route(.post, "template") { try await keep($0, $1) },
            route(.post, "analyse") { try await analyse($0, $1) },
            page(of: "proof", .send), page(of: "template", .send), page(of: "analyse", .send),
            route(.get, "start") { try await confirmStart($0, $1) },
            route(.post, "start") { try await start($0, $1) },
        ]
    }

    private var refusals: RefusalWords { RefusalWords(catalogue: catalogue) }

    /// A field or group of the last step that may be wrong.
    private enum Place { case moment, validity, plan, experiment, seeds, template }

    /// - Parameters:
    ///   - problem: what was refused.
    ///   - place: the field at which it is shown, or the step that is its cause; nil: above all.
    private func sendPage(
        _ call: ConsoleCall,
        _ composed: ComposedDraft,
        problem: String? = nil,
        at place: Place? = nil
    ) async throws -> ConsoleReply {
        let choices = try await responder.database.run { try await $0.composerChoices(by: call.actor) }
        let seeds = choices.seeds.filter { composed.draft.applications.contains($0.application) }
        let audience = try await audience(composed)
        let elsewhere = try await missing(call, composed, audience.problem)
        // What is wrong here is told at its field, and what else is typed here stays in sight.
        let lacking = elsewhere + wrongSettings(composed)
        let facts: [(Phrase, String)] = [
            (.columnApplications, composed.draft.applications.joined(separator: ", ")),
            (.stepTarget, composed.filterText.isEmpty ? catalogue[.everybody] : composed.filterText),
            (.countLabel, audience.words), (.listsLabel, composed.excludedLists.joined(separator: ", ")),
            (.localesField, composed.form.localeNames.joined(separator: ", ")),
            (.experimentTitle, experiment(composed).summary),
        ]
        let further = try await planFacts(composed) + limitFacts(composed) + approvalFacts(composed)
        let planned = further.map { fact -> PageValues in
            ["name": .text(fact.name), "value": .text(fact.value)]
        }
        let setting: SettingsForm.Setting? = place == .validity || place == .plan ? .validity : nil
        let fields = settings(composed).fields(SettingsForm.others, refused: setting, problem ?? "")
        var values: PageValues = [
            "facts": .list(
                facts.filter { !$0.1.isEmpty }.map { fact -> PageValues in
                    ["name": .text(catalogue[fact.0]), "value": .text(fact.1)]
                } + planned
            ),
            "missing": .list(lacking),
            "isReady": .flag(elsewhere.isEmpty), "settings": .list(fields),
            "isSaved": .flag(call.query["saved"] != nil && !settings(composed).isWrong),
            "timeDoubts": .list(plan(composed).timeDoubts.map { ["words": .text($0)] }),
            "whenPath": .text(path(composed.draft, .when)), "doubts": doubts(composed, audience),
            "experimentPath": .text(path(composed.draft, .experiment)),
            "isMissing": .flag(!lacking.isEmpty), "hasExperiment": .flag(experiment(composed).isOn),
        ]
        values.merge(self.seeds(seeds, call)) { own, _ in own }
        let button = try await approvalButton(composed, audience)
        values.merge(startChoice(button, composed.recurrence)) { _, new in new }
        values.merge(try await chosenStart(call, composed)) { _, new in new }
        values["kept"] = .text(call.form[Field.keep] ?? call.query[Field.keep] ?? "")
        if let place { values.merge(refused(problem ?? "", at: place, composed)) { _, new in new } }
        if let proof = call.query["proof"].flatMap({ Int64($0) }) {
            values["proof"] = .group(["proofID": .text("\(proof)")])
        }
        guard place != nil else { return page(.send, composed, values, problem: problem) }
        return page(.send, composed, values, status: .conflict)
    }

    /// The seed addresses to choose from, and whether one of them can get a proof now.
    func seeds(_ seeds: [ComposerSeed], _ call: ConsoleCall) -> PageValues {
        let rows = seeds.enumerated().map { place, seed -> PageValues in
            [
                "field": .text(Field.seed + seed.name), "fieldID": .text("seed-\(place)"), "name": .text(seed.name),
                "words": .text([seed.label, seed.application].filter { !$0.isEmpty }.joined(separator: " · ")),
                "isBarred": .flag(!seed.problem.isEmpty), "why": .text(catalogue.reason(seed.problem) ?? seed.problem),
                "isChosen": .flag(call.form[Field.seed + seed.name] != nil),
            ]
        }
        return [
            "seeds": .list(rows), "hasSeeds": .flag(!rows.isEmpty),
            "mayProve": .flag(seeds.contains { $0.problem.isEmpty }),
            "hasQuarantined": .flag(seeds.contains { $0.problem == "quarantine" }),
        ]
    }

    /// What was refused, at its field or with a link to the step that is its cause.
    private func refused(_ problem: String, at place: Place, _ composed: ComposedDraft) -> PageValues {
        let words: PageValues = ["words": .text(problem)]
        switch place {
        case .moment: return ["momentProblem": .group(words)]
        case .seeds: return ["seedsProblem": .group(words)]
        case .template: return ["keepProblem": .group(words)]
        case .plan: return ["planCause": .group(["causePath": .text(path(composed.draft, .when))])]
        case .experiment:
            let cause: PageValues = ["causePath": .text(path(composed.draft, .experiment))]
            return ["experimentCause": .group(cause.merging(words) { own, _ in own })]
        // Its field has it.
        case .validity: return [:]
        }
    }

    /// How the start is given.
    ///
    /// - Parameters:
    ///   - approvalButton: the button if services ask for approvals; nil if none does.
    ///   - standing: that of the recurring delivery which the draft changes: only its runs are started.
    private func startChoice(_ approvalButton: Phrase?, _ standing: RecurrenceStanding?) -> PageValues {
        let asks = approvalButton == .analyseForApproval
        var values: PageValues = [
            "whenNow": .text(catalogue[asks ? .whenApproved : .whenNow]),
            "whenLater": .text(catalogue[asks ? .whenApprovedLater : .whenLater]),
            "goStart": .text(asks ? Self.requests : approvalButton == nil ? Self.starts : Self.counts),
            "startLabel": .text(catalogue[approvalButton ?? .goToStart]),
        ]
        if let standing {
            let words = forceWords(standing, asks: asks)
            values["force"] = .group(["forceWords": .text(words), "goForce": .text(Self.forces)])
        }
        if approvalButton != nil {
            values["approvalFirst"] = .group(["words": .text(catalogue[asks ? .approvalRequest : .approvalFirst])])
        }
        return values
    }

    /// The chosen start, as it was typed, and that its time is over if it is.
    private func chosenStart(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> PageValues {
        func typed(_ field: String, _ name: String) -> String? {
            call.form[field] ?? call.query[field] ?? composed.draft.fields[name]
        }
        let zone = typed(Self.zoneField, ChosenStart.Name.zone) ?? composed.zone
        let text = typed(Self.momentField, ChosenStart.Name.time) ?? ""
        let isLater = typed(ChosenStart.kindField, ChosenStart.Name.kind) == ChosenStart.later
        var values: PageValues = [
            "at": .text(text), "isLater": .flag(isLater),
            "zoneMenu": ZoneMenu(known: composed.zones, chosen: zone).values(Self.zoneField),
        ]
        // A time that cannot be read is told when somebody goes on with it.
        if isLater, let moment = try? await self.moment(text, in: zone),
            let words = try await problem(ofStart: moment, in: zone)
        {
            values["momentProblem"] = .group(["words": .text(words)])
        }
        return values
    }

    /// What a draft still lacks in other steps, with the step where it is set.
    private func missing(_ call: ConsoleCall, _ composed: ComposedDraft, _ filterProblem: String) async throws
        -> [PageValues]
    {
        var all: [(Phrase, Step)] = []
        if composed.draft.label.isEmpty { all.append((.missingLabel, .applications)) }
        if composed.chosen.isEmpty { all.append((.missingApplications, .applications)) }
        if !filterProblem.isEmpty { all.append((.missingFilter, .target)) }
        if !composed.chosen.isEmpty, !composed.compiled().problems.isEmpty { all.append((.missingContent, .content)) }
        var rows: [PageValues] = all.map {
            ["words": .text(catalogue[$0.0]), "path": .text(path(composed.draft, $0.1) + "?saved=1")]
        }
        rows += try await goneLists(call, composed).map {
            [
                "words": .text(catalogue.text(.missingList, $0)),
                "path": .text(path(composed.draft, .target)),
            ]
        }
        if plan(composed).isWrong {
            rows.append(["words": .text(catalogue[.missingPlan]), "path": .text(path(composed.draft, .when))])
        }
        if areLimitsWrong(composed) {
            rows.append(["words": .text(catalogue[.missingLimits]), "path": .text(path(composed.draft, .limits))])
        }
        if isWrong(experiment(composed)) {
            let path = path(composed.draft, .experiment)
            rows.append(["words": .text(catalogue[.missingExperiment]), "path": .text(path)])
        }
        return rows
    }

    /// That a setting of this step is invalid.
    private func wrongSettings(_ composed: ComposedDraft) -> [PageValues] {
        guard settings(composed).isWrong(among: SettingsForm.others) else { return [] }
        return [["words": .text(catalogue[.missingSettings]), "path": "#sending"]]
    }

    private func isWrong(_ experiment: ExperimentForm) -> Bool {
        do {
            _ = try experiment.rule()
            return false
        } catch {
            return true
        }
    }

    func settings(_ composed: ComposedDraft) -> SettingsForm {
        SettingsForm(values: composed.draft.fields, catalogue: catalogue, categories: composed.categories)
    }

    /// Saves the settings and the start of this step's form, whichever button was pressed; returns the saved draft.
    private func keptSettings(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ComposedDraft {
        guard call.form[Field.version] == "\(composed.draft.version)" else {
            throw DraftChanged()
        }
        var draft = composed.draft
        SettingsForm.take(call.form, into: &draft.fields)
        ChosenStart.take(call.form, into: &draft.fields)
        guard draft.fields != composed.draft.fields else { return composed }
        let changed = draft
        return try await responder.database.run {
            try await $0.saveConsoleDraft(changed, by: call.actor)
            return try await ComposedDraft.read($0, changed.id, call.actor)
        }
    }

    private func saveSettings(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let composed = try await keptSettings(call, composed)
        let go = call.form[Field.go] ?? ""
        guard [Self.starts, Self.counts, Self.requests, Self.forces].contains(go), !settings(composed).isWrong else {
            let name = call.typed(Field.keep)
            let kept = name.isEmpty ? "" : "&\(Field.keep)=\(SignIn.encoded(name))"
            return .redirect(path(composed.draft, .send) + "?saved=1" + kept)
        }
        let when = SignIn.encoded(call.form[ChosenStart.kindField] ?? "")
        let moment = SignIn.encoded(call.form[Self.momentField] ?? "")
        let zone = SignIn.encoded(call.form[Self.zoneField] ?? ZoneMenu.utc)
        var query = "\(ChosenStart.kindField)=\(when)&\(Self.momentField)=\(moment)&\(Self.zoneField)=\(zone)"
        switch go {
        case Self.requests: query += "&\(Self.asksField)=\(Self.asked)"
        case Self.counts: query += "&\(Self.asksField)=\(Self.small)"
        case Self.forces: query += "&\(Self.asksField)=\(Self.forces)"
        default: break
        }
        return .redirect("\(Self.path)/\(composed.draft.id)/start?\(query)")
    }

    /// The delivery that the draft describes.
    private func delivery(_ composed: ComposedDraft) throws(ConsoleProblem) -> DraftDelivery {
        let (json, _, problems) = composed.compiled()
        guard problems.isEmpty else { throw .conflict(catalogue[.missingContent]) }
        guard !settings(composed).isWrong else { throw .conflict(catalogue[.missingSettings]) }
        guard !plan(composed).isWrong else { throw .conflict(catalogue[.missingPlan]) }
        var delivery = delivery(composed, content: json)
        do {
            delivery.experiment = try experiment(composed).rule()
        } catch {
            throw .conflict(catalogue[.missingExperiment])
        }
        do {
            delivery.follow = try follow(composed)
            delivery.saysFollow = saysFollow(composed)
        } catch {
            throw .conflict(catalogue[.missingLimits])
        }
        return delivery
    }

    private func delivery(_ composed: ComposedDraft, content: String) -> DraftDelivery {
        DraftDelivery(
            draft: composed.draft.id,
            version: composed.draft.version,
            content: content,
            filter: composed.filterText,
            excludedLists: composed.excludedLists,
            settings: settings(composed).json(with: plan(composed).plan)
        )
    }

    private func prove(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let composed = try await keptSettings(call, composed)
        guard !settings(composed).isWrong else { return try await sendPage(call, composed) }
        let prefix = Field.seed
        let seeds = call.form.values.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            .sorted()
        guard !seeds.isEmpty else {
            return try await sendPage(call, composed, problem: catalogue[.proofToNobody], at: .seeds)
        }
        let delivery = try delivery(composed)
        do {
            let proof = try await responder.database.run {
                try await $0.proveConsoleDraft(delivery, to: seeds, by: call.actor)
            }
            return .redirect("\(path(composed.draft, .send))?proof=\(proof)")
        } catch let error as StoreError where RefusalWords.isTold(error) {
            return try await sendPage(call, composed, problem: refusals.words(error))
        }
    }

    /// Saves the draft as a template. It need not be complete: each delivery adds the rest.
    private func keep(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let name = call.typed(Field.keep)
        let composed = try await keptSettings(call, composed)
        guard !name.isEmpty else {
            return try await sendPage(call, composed, problem: catalogue[.nameMissing], at: .template)
        }
        guard !settings(composed).isWrong else { return try await sendPage(call, composed) }
        let delivery = delivery(composed, content: composed.form.content().json)
        do {
            let id = try await responder.database.run { try await $0.keepTemplate(delivery, as: name, by: call.actor) }
            return .redirect("\(TemplatesPage.path)/\(id)?done=add")
        } catch let error as StoreError where RefusalWords.isTold(error) {
            return try await sendPage(call, composed, problem: refusals.words(error), at: .template)
        }
    }

    private func confirmStart(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let text = call.query[Self.momentField] ?? ""
        let zone = call.query[Self.zoneField] ?? ZoneMenu.utc
        var moment: DatabaseTime?
        if call.query[ChosenStart.kindField] == ChosenStart.later {
            do {
                moment = try await self.moment(text, in: zone)
            } catch ConsoleProblem.conflict(let words) {
                return try await sendPage(call, composed, problem: words, at: .moment)
            }
        }
        if let moment, let words = try await problem(ofStart: moment, in: zone) {
            return try await sendPage(call, composed, problem: words, at: .moment)
        }
        let audience = try await audience(composed, within: Self.startCountingLimit)
        guard try await missing(call, composed, audience.problem).isEmpty, wrongSettings(composed).isEmpty else {
            return try await sendPage(call, composed)
        }
        if let refused = try await refusal(call, composed, ofStart: moment, in: zone) {
            return try await sendPage(call, composed, problem: refused.words, at: refused.place)
        }
        let asks = call.query[Self.asksField]
        var words = startWords(asks, at: moment.map { shown($0, text, zone) })
        if asks == Self.forces, let standing = composed.recurrence {
            let button = try await approvalButton(composed, audience)
            words = (.forceTitle, forceWords(standing, asks: button == .analyseForApproval), .forceButton)
        }
        let planned = try await planFacts(composed)
        let caps = try await capFacts(composed)
        let waits: Phrase? =
            !plan(composed).facts.isEmpty ? .startPlanned : planned.isEmpty ? nil : .startHours
        let late = [plan(composed).doubt(ofStart: moment)].compactMap(\.self)
        return page(
            .send,
            composed,
            [
                "confirmation": .group([
                    "count": .text(audience.words), "note": .text(audience.note),
                    "hasNote": .flag(!audience.note.isEmpty), "doubts": doubts(composed, audience),
                    "lateDoubts": .list(late.map { ["words": .text($0)] }),
                    "when": .text([words.when, waits.map { catalogue[$0] }].compactMap(\.self).joined(separator: " ")),
                    "moment": .text(moment.map(Self.text) ?? ""), "asks": .flag(asks != nil),
                    "asksValue": .text([Self.small, Self.forces].first { $0 == asks } ?? Self.asked),
                    "confirmTitle": .text(catalogue[words.title]), "confirmButton": .text(catalogue[words.button]),
                    "applications": .text(composed.draft.applications.joined(separator: ", ")),
                    "settings": .list(
                        (contentFacts(composed) + settings(composed).facts + followFacts(composed) + planned + caps)
                            .map { ["name": .text($0.name), "value": .text($0.value)] }
                    ),
                ]),
                "startPath": .text("\(Self.path)/\(composed.draft.id)/start"),
                "cancelPath": .text(cancelPath(call, composed)),
            ]
        )
    }

    /// The step with the start as it was chosen.
    private func cancelPath(_ call: ConsoleCall, _ composed: ComposedDraft) -> String {
        let typed = [ChosenStart.kindField, Self.momentField, Self.zoneField].compactMap { name in
            call.query[name].map { "\(name)=\(SignIn.encoded($0))" }
        }
        return path(composed.draft, .send) + (typed.isEmpty ? "" : "?" + typed.joined(separator: "&"))
    }

    /// The clock of a zone; nil for UTC, which needs none.
    func clock(ofZone zone: String) async throws -> ZoneClock? {
        guard zone != ZoneMenu.utc else { return nil }
        return try await responder.database.run { try await $0.clock(ofZone: zone) }
    }

    /// Why nothing can start at a time, in words with times of a zone; nil if it can. The database refuses such a time
    /// as well, for every caller.
    private func problem(ofStart moment: DatabaseTime, in zone: String) async throws -> String? {
        let clock = try await clock(ofZone: zone)
        let now = try await responder.database.run { try await $0.databaseClock() }
        return Figures.$zone.withValue(clock) { problem(ofStart: moment, now: now) }
    }

    /// Why a draft cannot become a delivery with this start, in words with times of a zone, and the field where they
    /// are shown; nil if it can.
    private func refusal(
        _ call: ConsoleCall,
        _ composed: ComposedDraft,
        ofStart moment: DatabaseTime?,
        in zone: String
    ) async throws -> (words: String, place: Place?)? {
        let delivery = try delivery(composed)
        let clock = try await clock(ofZone: zone)
        return try await Figures.$zone.withValue(clock) { () async throws -> (words: String, place: Place?)? in
            do {
                try await responder.database.run {
                    try await $0.checkConsoleDraft(delivery, at: moment, by: call.actor)
                }
                return nil
            } catch let error as StoreError where RefusalWords.isTold(error) {
                return (refusals.words(error), Self.place(of: error))
            }
        }
    }

    /// Where a refusal of a start is shown. If a plan or an experiment does not fit, the database's remedy names what
    /// has to change.
    private static func place(of error: StoreError) -> Place? {
        guard error.sqlState == RefusalWords.endsEarly else { return nil }
        let remedy = error.hint ?? ""
        if remedy.contains("decide_after") { return .experiment }
        return ["local time", "waves", "next_day"].contains { remedy.contains($0) } ? .plan : .validity
    }

    /// What the confirmation says about the start.
    ///
    /// - Parameter asks: the value of the field ``asksField``; nil: nothing is counted first.
    private func startWords(_ asks: String?, at start: String?) -> (title: Phrase, when: String, button: Phrase) {
        let begins = start.map { catalogue.text(.startAt, $0) } ?? catalogue[.startNow]
        switch asks {
        case nil: return (.startTitle, begins, .startButton)
        // It no longer recurs, so the form only has it analysed.
        case Self.forces?: return (.forceTitle, catalogue[.analyseHint], .analyseButton)
        case Self.small?: return (.startTitle, "\(begins) \(catalogue[.startCounted])", .analyseAndStart)
        default:
            let asked = start.map { catalogue.text(.requestAt, $0) } ?? catalogue[.requestNow]
            return (.requestTitle, "\(asked) \(catalogue[.requestSmall])", .requestButton)
        }
    }

    /// What follows if a draft is put into force for the recurring delivery that it changes.
    ///
    /// - Parameter asks: whether its runs are expected to need an approval.
    private func forceWords(_ standing: RecurrenceStanding, asks: Bool) -> String {
        let number = "\(standing.row.deliveryID)"
        return [
            catalogue.text(.forceText, number), standing.words(catalogue), asks ? catalogue[.forceApproval] : nil,
        ].compactMap(\.self).joined(separator: " ")
    }

    /// The keys without which a recall cannot replace the messages: later it is too late for them.
    private func keysMissing(_ composed: ComposedDraft) -> String {
        // It may be typed in its own field or among the keys that are written as JSON. Variants do not change it.
        let said = ContentForm.values(json: composed.form.content().json)
        let missing = composed.platforms.filter { platform in
            said["\(platform.rawValue).\(ContentFormView.replacingKey(platform))"] == nil
        }
        guard !missing.isEmpty else { return "" }
        let keys = missing.map { platform in
            "\(ContentFormView.replacingKey(platform)) (\(name(platform)))"
        }
        let lacking = keys.joined(separator: ", ")
        let replaced = composed.platforms.filter { !missing.contains($0) }.map(name)
        guard !replaced.isEmpty else { return catalogue.text(.recallKeyMissing, lacking) }
        return catalogue.text(
            .recallKeyPartly,
            replaced.joined(separator: ", "),
            missing.map(name).joined(separator: ", "),
            lacking
        )
    }

    /// The languages, the experiment, and what a recall will not be able to do.
    private func contentFacts(_ composed: ComposedDraft) -> [(name: String, value: String)] {
        let facts: [(Phrase, String)] = [
            (.localesField, composed.form.localeNames.joined(separator: ", ")),
            (.experimentTitle, experiment(composed).summary), (.recallFact, keysMissing(composed)),
        ]
        return facts.filter { !$0.1.isEmpty }.map { (catalogue[$0.0], $0.1) }
    }

    /// When messages leave: the plan, and what the services say where the plan leaves it to them.
    private func planFacts(_ composed: ComposedDraft) async throws -> [(name: String, value: String)] {
        let form = plan(composed)
        let rule = form.plan.hours
        let (services, facts) = (composed.ownServices, DeliveryStartFacts(catalogue: catalogue))
        let isCode = SettingsForm.isOneTimeCode(composed.draft.fields)
        let exempt = isCode ? services : transactionalServices(composed)
        let hours = try await responder.database.run {
            try await facts.hours($0, of: services, rule: rule, exempt: exempt)
        }
        return form.facts + hours
    }

    private func start(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        // The confirmation has it in UTC.
        let text = call.form[Self.momentField] ?? ""
        let moment: DatabaseTime? = try await text.isEmpty ? nil : self.moment(text, in: ZoneMenu.utc)
        guard call.form[Field.version] == "\(composed.draft.version)" else {
            throw DraftChanged()
        }
        return try await begin(call, composed, at: moment, asks: call.form[Self.asksField])
    }

    /// Analyses the delivery instead of starting it.
    private func analyse(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let composed = try await keptSettings(call, composed)
        guard !settings(composed).isWrong else { return try await sendPage(call, composed) }
        return try await begin(call, composed, at: nil, isAnalysis: true)
    }

    private func begin(
        _ call: ConsoleCall,
        _ composed: ComposedDraft,
        at moment: DatabaseTime?,
        isAnalysis: Bool = false,
        asks: String? = nil
    ) async throws -> ConsoleReply {
        let delivery = try delivery(composed)
        // What a recurring delivery sends is made and counted again; only its runs are started.
        let isAnalysis = isAnalysis || asks == Self.forces
        do {
            let id = try await responder.database.run {
                try await $0.startConsoleDraft(
                    delivery,
                    at: moment,
                    isAnalysis: isAnalysis,
                    isRequest: asks != nil && !isAnalysis,
                    by: call.actor
                )
            }
            await responder.approvals.forget()
            if isAnalysis, composed.recurrence != nil {
                return .redirect("/deliveries/\(id)?done=\(RecurrencePage.forced)")
            }
            if asks == Self.asked { return .redirect("/deliveries/\(id)?done=\(DeliveryAction.request.rawValue)") }
            // If it starts later or is analysed, its page says so itself.
            let isStarted = moment == nil && !isAnalysis && asks == nil
            return .redirect("/deliveries/\(id)" + (isStarted ? "?done=\(Self.started)" : ""))
        } catch let error as StoreError where RefusalWords.isTold(error) {
            return try await sendPage(call, composed, problem: refusals.words(error))
        }
    }

    /// Why nothing can start at a time, in words; nil if it can.
    ///
    /// - Parameter mayStartNow: whether the user could start it at once instead.
    func problem(ofStart moment: DatabaseTime, now: DatabaseTime, mayStartNow: Bool = true) -> String? {
        let passed = now.microsecondsSince1970 - moment.microsecondsSince1970
        guard passed > Self.maxPassedMicroseconds else { return nil }
        let words: Phrase = mayStartNow ? .pastMoment : .pastMomentLater
        return catalogue.text(words, Figures.minute(moment), Figures.minute(now))
    }

    /// Reads the time of a browser's field, here in UTC: `.some(nil)` for now, and nil if it is not a time.
    static func moment(_ text: String, isNow: Bool) -> DatabaseTime?? {
        if isNow { return .some(nil) }
        let full = text.count == 16 ? text + ":00Z" : text + "Z"
        // The parser accepts 99:00 as a time on a later day; comparing the text again refuses it.
        guard let date = try? Date(full, strategy: .iso8601), date.formatted(.iso8601) == full else { return nil }
        return .some(DatabaseTime(microsecondsSince1970: Int64(date.timeIntervalSince1970) * 1_000_000))
    }
}
