/// A rate over the last minutes as small bars without a scale; the text gives its range.
struct Sparkline {
    let rates: [Double?]
    let catalogue: Catalogue

    private static let height = 22.0
    private static let width = 4.0

    /// The sparkline in one sentence, for users who cannot see it.
    var words: String {
        let known = rates.compactMap(\.self)
        guard let lowest = known.min(), let highest = known.max(), let now = known.last else {
            return catalogue[.trendEmpty]
        }
        return catalogue.text(.trendWords, Figures.rate(lowest), Figures.rate(highest), Figures.rate(now))
    }

    var markup: Markup {
        // The scale begins at 10, so that one message a second does not look like a peak.
        let scale = Self.height / max(rates.compactMap(\.self).max() ?? 0, 10)
        let bars = rates.enumerated().compactMap { place, rate in
            rate.map { rate in
                let height = max(rate * scale, 1)
                let x = Bar.number(Double(place) * Self.width)
                return
                    "<rect class=\"s-sent\" x=\"\(x)\" y=\"\(Bar.number(Self.height - height))\" width=\"3\" height=\"\(Bar.number(height))\"/>"
            }
        }
        let box = "0 0 \(Bar.number(Double(rates.count) * Self.width)) \(Bar.number(Self.height))"
        return Markup(
            trusted: "<svg class=\"spark\" viewBox=\"\(box)\" preserveAspectRatio=\"none\" role=\"img\" "
                + "aria-label=\"\(Markup.escaped(words))\"><title>\(Markup.escaped(words))</title>\(bars.joined())</svg>"
        )
    }
}
