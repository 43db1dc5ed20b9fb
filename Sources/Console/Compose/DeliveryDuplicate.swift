import Content
import HTTPTypes
import PushCore
import Store

/// Makes a draft that says the same as a delivery, and leads to it: of another delivery, or of the same one if that
/// recurs.
struct DeliveryDuplicate: Sendable {
    let responder: ConsoleResponder

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// - Parameter edits: whether the draft changes the delivery, which recurs.
    func reply(_ call: ConsoleCall, _ id: Int64, edits: Bool = false) async throws -> ConsoleReply {
        let (source, platforms, origin) = try await responder.database.run { store in
            let source = try await store.duplicate(ofDelivery: id, by: call.actor)
            let names = Set(source.target.applications)
            let platforms = Set(try await store.applications().filter { names.contains($0.name) }.map(\.platform))
            let earlier = try await store.copySource(ofDelivery: id)
            return (source, platforms, edits ? earlier : id)
        }
        var content = source.content
        var experiment: [String: String] = [:]
        if call.query[Self.variants] == nil, let original = DuplicatedExperiment(settings: source.settings) {
            guard let draft = original.draft(of: content, platforms) else {
                return withoutVariants(id, source.label, edits)
            }
            (content, experiment) = draft
        }
        var fields = ComposedDraft.fields(content: content, settings: source.settings, source.target)
        fields.merge(experiment) { _, new in new }
        fields.merge(self.origin(source.settings)) { _, new in new }
        fields[ComposedDraft.Name.copiedFrom] = origin.map { "\($0)" }
        let all = fields
        let draft = try await responder.database.run { store in
            if edits {
                return try await store.addDraft(
                    ofRecurring: id,
                    label: source.label,
                    applications: source.target.applications,
                    fields: all,
                    by: call.actor
                )
            }
            return try await store.addConsoleDraft(
                label: source.label,
                applications: source.target.applications,
                fields: all,
                by: call.actor
            )
        }
        return .redirect("\(Composer.path)/\(draft)/\(Composer.Step.applications.rawValue)")
    }

    /// What the address of a duplicate has if its variants are left out.
    private static let (variants, none) = ("variants", "none")

    /// Offers a draft of an experiment whose variants no draft can say.
    private func withoutVariants(_ id: Int64, _ label: String, _ edits: Bool) -> ConsoleReply {
        let action: DeliveryAction = edits ? .edit : .duplicate
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[edits ? .editPlainTitle : .duplicatePlainTitle],
                [
                    "subject": .text(label),
                    "text": .text(catalogue[edits ? .editVariants : .duplicateVariants]), "isMild": .flag(true),
                    "action": .text("/deliveries/\(id)/\(action.rawValue)?\(Self.variants)=\(Self.none)"),
                    "button": .text(catalogue[edits ? .editPlain : .duplicatePlain]),
                    "back": .text("/deliveries/\(id)"),
                ],
                status: .conflict
            )
        )
    }

    /// The saved audience and the signal of the delivery, which are values of a draft already.
    private func origin(_ settings: String) -> [String: String] {
        guard case .object(let entries)? = try? JSONValue(parsing: settings.utf8),
            case .object(let fields)? = entries.first(where: { $0.name == "fields" })?.value
        else { return [:] }
        return fields.reduce(into: [:]) { values, field in
            if case .string(let text) = field.value { values[field.name] = text }
        }
    }
}
