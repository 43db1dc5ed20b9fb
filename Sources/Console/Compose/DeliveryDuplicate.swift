import Content
import HTTPTypes
import PushCore
import Store

/// Makes a draft that says the same as a delivery, and leads to it.
struct DeliveryDuplicate: Sendable {
    let responder: ConsoleResponder

    private var catalogue: Catalogue { responder.pages.catalogue }

    func reply(_ call: ConsoleCall, _ id: Int64) async throws -> ConsoleReply {
        let (source, platforms) = try await responder.database.run { store in
            let source = try await store.duplicate(ofDelivery: id, by: call.actor)
            let names = Set(source.target.applications)
            let platforms = Set(try await store.applications().filter { names.contains($0.name) }.map(\.platform))
            return (source, platforms)
        }
        var fields = ComposedDraft.fields(content: source.content, settings: source.settings, source.target)
        if let experiment = DuplicatedExperiment(settings: source.settings) {
            guard let values = experiment.fields(of: source.content, platforms) else {
                throw ConsoleProblem.conflict(catalogue[.duplicateVariants])
            }
            fields.merge(values) { _, new in new }
        }
        fields.merge(origin(source.settings)) { _, new in new }
        fields[ComposedDraft.Name.copiedFrom] = "\(id)"
        let all = fields
        let draft = try await responder.database.run {
            try await $0.addConsoleDraft(
                label: source.label,
                applications: source.target.applications,
                fields: all,
                by: call.actor
            )
        }
        return .redirect("\(Composer.path)/\(draft)/\(Composer.Step.applications.rawValue)")
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
