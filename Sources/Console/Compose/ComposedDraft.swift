import Content
import PushCore
import Store

/// A draft with its applications and its content.
struct ComposedDraft: Sendable {
    /// The names of a draft's values that are not part of the content.
    enum Name {
        /// The filter's text.
        static let filter = "target.filter"
        /// The saved audience that the filter was copied from, while the filter is unchanged.
        static let audience = "target.audience"
        /// The exclusion lists, one per line.
        static let lists = "target.lists"
        /// The prefix of the names of the fields of a signal to follow.
        static let follow = "follow."
        /// The delivery that it was copied from.
        static let copiedFrom = "copied.from"
        /// The prefix of the names of the preview's sample values.
        static let sample = "sample."
    }

    var draft: ConsoleDraft
    /// All applications, by name.
    let offered: [ApplicationRow]
    /// The service of each application, by name.
    let services: [String: String]
    /// The connectors of external accounts, by id.
    let connectors: [Int32: Connector]
    /// The categories of all services.
    let allCategories: [CategoryRow]
    /// The time zones that the database knows, and those of services by name.
    let zones: [String]
    let serviceZones: [String: String]
    /// The applications that cannot send, by name.
    let obstacles: [String: SendingObstacle]
    /// What the plan's moments are in the draft's zone, by text.
    private(set) var moments: [String: ZonedMoment] = [:]
    /// When they were read.
    private(set) var readAt: DatabaseTime?
    /// Why its delivery came back, and why an earlier version did; nil if it has not been started.
    private(set) var returned: (reason: String, earlier: String)?
    /// The recurring delivery that it changes; nil if its delivery does not recur.
    private(set) var recurrence: RecurrenceStanding?

    static func read(_ store: Store, _ id: Int64, _ actor: ConsoleActor) async throws -> ComposedDraft {
        var composed = ComposedDraft(
            draft: try await store.consoleDraft(id, by: actor),
            offered: try await store.applications(),
            services: try await store.servicesOfApplications(),
            connectors: Dictionary(uniqueKeysWithValues: try await store.accounts().map { ($0.id, $0.connector) }),
            allCategories: try await store.categories(),
            zones: try await store.timeZones(),
            serviceZones: try await store.zonesOfServices(),
            obstacles: try await store.sendingObstacles()
        )
        try await composed.readMoments(store)
        composed.returned = try await store.returned([composed.draft], by: actor).values.first
        if let id = composed.draft.deliveryID {
            composed.recurrence = try await RecurrenceStanding.read(store, [id])[id]
        }
        return composed
    }

    /// Reads what the plan's moments are in the draft's zone; again after a change of either.
    mutating func readMoments(_ store: Store) async throws {
        let typed = PlanForm.moments(in: draft.fields)
        let local = [draft.fields[PlanForm.localTime] ?? ""].filter(DeliveryPlan.isLocalTime)
        moments = try await store.moments(of: typed + local, in: zone)
        if !moments.isEmpty { readAt = try await store.databaseClock() }
    }

    /// The delivery that it was copied from; nil if it is no copy.
    var copiedFrom: Int64? { draft.fields[Name.copiedFrom].flatMap { Int64($0) } }

    /// The time zone in which the draft's times are typed: that of its services unless it says another.
    var zone: String { draft.fields[PlanForm.zone] ?? usualZone }

    /// The time zone of its services; UTC if they have several.
    var usualZone: String {
        let own = Set(chosen.compactMap { services[$0.name].flatMap { serviceZones[$0] } })
        return own.count == 1 ? own.first ?? ZoneMenu.utc : ZoneMenu.utc
    }

    /// Whether the deliveries of a template go to explicit targets that a system adds. A draft has a filter instead, so
    /// it would go to everyone.
    static func isForSystems(_ template: TemplateRow) -> Bool {
        ContentForm.texts(json: template.settings)["explicit_targets"] == "true"
    }

    /// The values of a draft that starts from a template or another delivery.
    static func fields(content: String, settings: String, _ target: TemplateTarget) -> [String: String] {
        var fields = ContentForm.values(json: content)
        fields.merge(SettingsForm.values(json: settings)) { _, setting in setting }
        fields.merge(PlanForm.values(json: settings)) { _, planned in planned }
        if !target.filter.isEmpty { fields[Name.filter] = target.filter }
        if !target.excludedLists.isEmpty { fields[Name.lists] = target.excludedLists.joined(separator: "\n") }
        return fields
    }

    /// The applications that it goes to.
    var chosen: [ApplicationRow] { offered.filter { draft.applications.contains($0.name) } }

    /// The categories that it may have: those of its first service whose names its other services have, too.
    var categories: [CategoryRow] {
        let services = ownServices.sorted()
        return allCategories.filter { row in
            row.service == services.first
                && services.allSatisfy { other in
                    allCategories.contains { $0.service == other && $0.name == row.name }
                }
        }
    }

    /// The services of its applications.
    var ownServices: Set<String> { Set(chosen.compactMap { services[$0.name] }) }

    /// The platforms of its applications.
    var platforms: [Platform] { Platform.allCases.filter { platform in chosen.contains { $0.platform == platform } } }

    /// The largest payload that each gateway of a platform takes, in bytes: the tightest one's.
    var payloadLimits: [Platform: Int] {
        chosen.reduce(into: [:]) { limits, row in
            let format = row.format(over: row.accountID.flatMap { connectors[$0] })
            let limit = PayloadLimits.limit(format: format, pushType: .alert)
            limits[row.platform] = min(limits[row.platform] ?? limit, limit)
        }
    }

    /// The declarations of the applications of a platform. If several declare the same name, the first one is used, but
    /// for a sound the first one with a label.
    func declared(_ platform: Platform) -> ApplicationDeclarations {
        var all = ApplicationDeclarations()
        for row in chosen where row.platform == platform {
            guard let own = try? ApplicationDeclarations(variables: row.variables, sounds: row.sounds, parameters: "[]")
            else { continue }
            all.variables += own.variables.filter { variable in !all.variables.contains { $0.name == variable.name } }
            for sound in own.sounds {
                guard let place = all.sounds.firstIndex(where: { $0.name == sound.name }) else {
                    all.sounds.append(sound)
                    continue
                }
                if all.sounds[place].label.isEmpty { all.sounds[place] = sound }
            }
        }
        return all
    }

    /// The form of its content.
    var form: ContentForm {
        ContentForm(
            values: draft.fields,
            platforms: platforms,
            variables: Dictionary(uniqueKeysWithValues: platforms.map { ($0, declared($0).variables) })
        )
    }

    var filterText: String { (draft.fields[Name.filter] ?? "").trimmed }

    /// The one service of its applications; nil if there are none, or several.
    var service: String? {
        let own = Set(chosen.compactMap { services[$0.name] })
        return own.count == 1 ? own.first : nil
    }

    /// The filter; nil selects everyone. Throws ``TargetFilterError`` if the text is not a filter.
    func filter(_ store: Store) async throws -> TargetFilter? {
        let text = filterText
        return text.isEmpty ? nil : try await store.parseFilter(text).get()
    }

    var excludedLists: [String] {
        (draft.fields[Name.lists] ?? "").split(separator: "\n").map(String.init)
    }

    /// The sample values for fields in the preview.
    var samples: [String: String] {
        draft.fields.reduce(into: [:]) { samples, field in
            guard field.key.hasPrefix(Name.sample), !field.value.isEmpty else { return }
            samples[String(field.key.dropFirst(Name.sample.count))] = field.value
        }
    }
}

extension ComposedDraft {
    /// A content, compiled for an application.
    struct Compiled: Sendable {
        let application: ApplicationRow
        let template: LocalisedTemplate
    }

    /// The content compiled for each application, as far as it can be sent, and its problems, by field name.
    func compiled() -> (json: String, messages: [Compiled], problems: [ContentProblem]) {
        let (json, found) = form.content()
        var problems = found
        var messages: [Compiled] = []
        guard problems.isEmpty else { return (json, [], problems) }
        for application in chosen {
            do throws(ContentError) {
                let connector = application.accountID.flatMap { connectors[$0] }
                let template = try application.template(of: json, over: connector)
                messages.append(Compiled(application: application, template: template))
            } catch {
                problems += error.problems.filter { !problems.contains($0) }
            }
        }
        return (json, messages, problems)
    }
}

extension StringProtocol {
    /// The text without surrounding white space.
    var trimmed: String {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = lastIndex { !$0.isWhitespace }.map { index(after: $0) } ?? start
        return String(self[start..<end])
    }
}
