#include "alidade/formats/stored_rows.hpp"

#include "../files/features_folder.hpp"

namespace alidade {

SharedFeatures store_rows(const RowSource& rows, const std::filesystem::path& folder, Threads threads) {
    detail::write_features_folder(folder, rows, threads);
    FeatureTable table = detail::map_features(folder);
    table.names = rows.names;
    return std::make_shared<const FeatureMap>(FeatureMap::from_table(table));
}

}  // namespace alidade
