import PushCore
import Store

extension ChunkTrial {
    /// Renders messages of the first chunk of a delivery as a child does, all of them if its target is explicit; nil if
    /// its content has no fields, because the check before its preparation has seen all that such a content can be.
    ///
    /// Fields of a target mapping are not read here: reading a view of other people would hold the locks of the chunk's
    /// transaction for as long as the view takes. The messages of such an application are not tried; an analysis renders
    /// them.
    package static func of(_ job: PreparationJob) -> ChunkTrial? {
        var routes: [Route] = []
        for (place, (application, account)) in zip(job.applications, job.accounts).enumerated() {
            let credential = place < job.credentials.count ? job.credentials[place]?.kind : nil
            // Which variant the rest of an experiment gets is not known yet, so each is tried.
            for variant in job.shownVariants {
                // The check before the preparation has reported what cannot be compiled.
                guard
                    let previewer = try? MessagePreviewer(
                        job.delivery(showing: variant),
                        application: application,
                        account: account,
                        credential: credential
                    ),
                    !previewer.fields.names.isEmpty, !previewer.fields.needsMapping
                else { continue }
                routes.append(
                    Route(
                        application: application.id,
                        fields: previewer.fields,
                        variant: variant?.number ?? 0,
                        judge: RenderingJudge(
                            previewer: previewer,
                            application: application.name,
                            variant: variant?.label
                        )
                    )
                )
            }
        }
        return routes.isEmpty ? nil : ChunkTrial(routes: routes, triesAll: job.isExplicit)
    }

    /// Judges messages by their payloads.
    private struct RenderingJudge: Judge {
        let previewer: MessagePreviewer
        /// The name of the application.
        let application: String
        /// The label of the variant that the messages show; nil if the delivery is no experiment.
        let variant: String?
        private var rendered = RenderedMessages()

        init(previewer: MessagePreviewer, application: String, variant: String?) {
            self.previewer = previewer
            self.application = application
            self.variant = variant
        }

        mutating func add(_ loaded: LoadedPart, isUsual: (Int) -> Bool) {
            var rendered = self.rendered
            previewer.measure(loaded) { row, _, refusal in rendered.add(refusal, isUsual: isUsual(row)) }
            self.rendered = rendered
        }

        func problems(among all: Int64) -> [DeliveryProblem] {
            rendered.problems(among: all, ofApplication: application, variant: variant)
        }
    }
}
