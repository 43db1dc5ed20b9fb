/// The scale of a chart of counts.
enum ChartScale {
    /// The top of the scale for a highest bar: 1, 2 or 5 times a power of ten.
    static func top(_ highest: Int64) -> Int64 {
        var step: Int64 = 1
        while true {
            for factor: Int64 in [1, 2, 5] where step * factor >= highest { return max(step * factor, 1) }
            step *= 10
        }
    }
}
